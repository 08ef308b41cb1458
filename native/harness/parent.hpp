// A program that must not outlive the process that started it.
#pragma once

namespace assay {

/// If the variable ASSAY_PARENT holds the id of the parent: be killed when that process ends, however it ends.
/// Without it a program outlives its shell, as nohup requires. Failure (usage) if it holds no id.
void end_with_parent();

}  // namespace assay
