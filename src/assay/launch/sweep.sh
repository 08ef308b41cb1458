left=$(found "$1");
[ -n "$left" ] || exit 0;
for pid in $left; do echo "$pid $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"; done;
kill -TERM $left 2>/dev/null;
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
left=$(found "$1"); [ -n "$left" ] || exit 0; sleep 0.2;
done;
for _ in 1 2 3 4 5 6 7 8 9 10; do
kill -KILL $left 2>/dev/null; sleep 0.2; left=$(found "$1"); [ -n "$left" ] || exit 0;
done;
exit 1
