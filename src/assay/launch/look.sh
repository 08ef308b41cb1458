for pid in $(found "$1"); do
rank=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | sed -nE
's/^(OMPI_COMM_WORLD_RANK|PMI_RANK|PMIX_RANK|SLURM_PROCID)=//p' | head -n 1);
[ -n "$rank" ] && echo "$rank $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$pid/status")";
done;
true
