echo "start $(date +%s.%N)"; echo "host $(uname -n)"; echo "kernel $(uname -r)";
echo "boot $(cat /proc/sys/kernel/random/boot_id)"; echo "memlock $(ulimit -l)";
echo "cpus $(unset OMP_NUM_THREADS OMP_THREAD_LIMIT; nproc 2>/dev/null)
$(getconf _NPROCESSORS_ONLN 2>/dev/null)";
echo "shm $(set -- $(df -Pk /dev/shm 2>/dev/null | tail -n 1); echo "$4")";
for at in /sys/class/net/*; do [ -r $at/mtu ] && echo
"interface ${at##*/} $(cat $at/mtu) $(cat $at/operstate) $(cat $at/speed 2>/dev/null)"; done;
for at in /sys/class/infiniband/*/ports/*; do card=${at%/ports/*}; [ -r $at/rate ] && echo
"port ${card##*/}:${at##*/} $(cut -d: -f1 $at/state) $(cut -d" " -f1 $at/rate)"; done;
for at in /sys/class/cxi/*; do [ -d $at/device ] && echo "card ${at##*/}"; done;
ucx_info -d 2>/dev/null | sed -nE 's/^# +(Transport|Device): +/ucx /p';
echo "variable UCX_TLS $UCX_TLS"; echo "variable UCX_NET_DEVICES $UCX_NET_DEVICES";
for at in /dev/infiniband/uverbs*; do [ -r $at ] && [ -w $at ] && echo "verbs $at"; done;
for name in $2; do echo "address $name $(getent hosts "$name" | head -n 1)"; done;
for file in $(grep -lF "ASSAY_RUN=" /proc/[0-9]*/environ 2>/dev/null); do at=${file%/environ};
run=$(tr '\0' '\n' 2>/dev/null <"$file" | sed -n 's/^ASSAY_RUN=//p');
[ -n "$run" ] && echo "process ${at#/proc/} $run $(tr '\0' ' ' 2>/dev/null <"$at/cmdline")"; done;
sha256sum -- $3 2>/dev/null | sed 's/^/program /';
for name in $4; do said=$("$name" --describe 2>&1 >/dev/null) && echo "starts $name" ||
echo "refuses $name $(echo "$said" | tail -n 1)"; done;
for name in $5; do [ -x "$name" ] && echo "file $name"; done;
echo "assay $("$1" -P -m assay --version 2>&1 | tail -n 1)"; echo "end $(date +%s.%N)"
