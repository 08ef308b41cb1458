#!/bin/sh
# The first process of a machine of the lab: makes what it sees its own, then reaps orphans until it is killed, which
# ends all of the machine with it.  machine.sh NAME FOLDER OWN, in new namespaces and with a /proc of its own.
set -eu
name=$1 folder=$2 own=$3
project=$(cd "$(dirname "$0")/../.." && pwd)

hostname "$name"
ip link set lo up

# A /sys that shows this machine's interfaces, with the control groups where they were: slurmd looks for them.
mkdir -p "$own/cgroup"
mount --rbind /sys/fs/cgroup "$own/cgroup"
mount -t sysfs sysfs /sys
mount --move "$own/cgroup" /sys/fs/cgroup

# The state folder and this clone are seen again wherever they were, even below a folder that is hidden now.
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
# sshd refuses an account that is locked; nobody needs a password here.
sed 's/^\([^:]*\):[^:]*:/\1:*:/' /etc/shadow >"$folder/own/shadow"
chmod 600 "$folder/own/shadow"
mount --bind "$folder/own/shadow" /etc/shadow

touch "$folder/own/ready"
exec env --ignore-signal=CHLD sleep infinity
