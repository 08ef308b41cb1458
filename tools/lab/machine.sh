#!/bin/sh
# The first process of a machine of the lab: sets up its private files, then reaps orphans until it is killed,
# which ends the whole machine. machine.sh NAME FOLDER OWN, in new namespaces and with its own /proc.
set -eu
name=$1 folder=$2 own=$3
project=$(cd "$(dirname "$0")/../.." && pwd)

hostname "$name"
ip link set lo up

# A /sys with this machine's interfaces, and the control groups in their usual place: slurmd looks for them.
mkdir -p "$own/cgroup"
mount --rbind /sys/fs/cgroup "$own/cgroup"
mount -t sysfs sysfs /sys
mount --move "$own/cgroup" /sys/fs/cgroup

# The state folder and this clone stay visible at their paths, even below a folder that is hidden now.
exec 8<"$project" 9<"$folder"
mount -t tmpfs -o size=1g,mode=1777 tmpfs /tmp
mount -t tmpfs -o size=1g,mode=1777 tmpfs /var/tmp
mount -t tmpfs -o size=256m,mode=1777 tmpfs /dev/shm
mount -t tmpfs -o size=64m,mode=755 tmpfs /run
mkdir -p "$folder" /run/sshd
mount --no-canonicalize --bind /proc/self/fd/9 "$folder"
if [ ! -e "$project/tools/lab/machine.sh" ]; then
    mkdir -p "$project"
    mount --no-canonicalize --bind /proc/self/fd/8 "$project"
fi
exec 8<&- 9<&-
[ "$own" = "$folder/own" ] || mount --bind "$own" "$folder/own"

mount --bind "$folder/hosts" /etc/hosts
mount --bind "$folder/ssh/config" /etc/ssh/ssh_config
# sshd refuses a locked account; no password is needed here.
sed 's/^\([^:]*\):[^:]*:/\1:*:/' /etc/shadow >"$folder/own/shadow"
chmod 600 "$folder/own/shadow"
mount --bind "$folder/own/shadow" /etc/shadow

touch "$folder/own/ready"
exec env --ignore-signal=CHLD sleep infinity
