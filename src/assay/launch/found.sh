found() {
for file in $(grep -lF "ASSAY_RUN=$1" /proc/[0-9]*/environ 2>/dev/null); do
pid=${file#/proc/}; pid=${pid%/environ};
tr '\0' '\n' 2>/dev/null <"$file" | grep -qxF "ASSAY_RUN=$1" && echo "$pid";
done; };
