#!/bin/busybox sh
# The first process of the guest: runs each launch, then sends all output, and the kernel's description of the
# machine, through the second serial port.
/bin/busybox mkdir -p /proc /sys /dev /tmp /out/machine
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t cgroup2 cgroup2 /sys/fs/cgroup
# The launcher of an MPI program reaches its ranks over the loopback; ranks reach each other over shared memory.
mkdir -p /etc /dev/shm
mount -t tmpfs tmpfs /dev/shm
hostname guest
echo "127.0.0.1 localhost guest" >/etc/hosts
ifconfig lo 127.0.0.1 up

# launch NAME COMMAND...: keeps the output and the exit code.
launch() {
    echo "launch $1" >/dev/console
    folder=/out/launches/$1
    shift
    mkdir -p "$folder"
    "$@" >"$folder/stdout" 2>"$folder/stderr" </dev/null
    echo $? >"$folder/exit"
}

# ranks COMMAND...: the records of an MPI program, without messages of its launcher. An emulated launcher may take a
# rank that has ended for one that was aborted.
ranks() {
    "$@" | grep '^{'
}

# group NAME CPUS NODES: a control group that may use only these.
group() {
    mkdir "/sys/fs/cgroup/$1"
    echo "$2" >"/sys/fs/cgroup/$1/cpuset.cpus"
    echo "$3" >"/sys/fs/cgroup/$1/cpuset.mems"
}

# within GROUP COMMAND...: run in a control group.
within() {
    sh -c 'echo $$ >"/sys/fs/cgroup/$0/cgroup.procs" && exec "$@"' "$@"
}

# shows GROUP SIGN: whether the kernel's files of the process in the group contain SIGN.
shows() {
    id=$(cat "/sys/fs/cgroup/$1/cgroup.procs")
    grep -qs "$2" "/proc/$id/status" "/proc/$id/numa_maps"
}

# moved GROUP FILE VALUE SIGN COMMAND...: the group is changed 2 s after the running command shows the sign: by then
# it measures, and has read back its placement.
moved() {
    group=$1 file=$2 value=$3 sign=$4
    shift 4
    within "$group" "$@" &
    for _ in $(seq 100); do
        shows "$group" "$sign" && break
        sleep 0.1
    done
    sleep 2
    echo "$value" >"/sys/fs/cgroup/$group/$file"
    wait $!
}

echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
group narrow 0-3 1
group cpus 0-3 0-1
group nodes 0-3 0-1
. /launches

cd /
# One process copies all: starting one for each takes seconds on an emulated machine. Not every machine has all files.
cp --parents /proc/meminfo /proc/cpuinfo /proc/self/status /proc/version \
    /sys/devices/system/cpu/online /sys/devices/system/cpu/cpu[0-9]*/topology/* \
    /sys/devices/system/cpu/cpu[0-9]*/cache/index*/* \
    /sys/devices/system/node/node[0-9]*/cpulist /sys/devices/system/node/node[0-9]*/distance \
    /sys/devices/system/node/node[0-9]*/meminfo /out/machine

stty -F /dev/ttyS1 raw
tar -c -z -C /out . >/dev/ttyS1
poweroff -f
