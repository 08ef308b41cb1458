// A program that somebody else started and that must not outlive them.
#pragma once

namespace assay {

/// Where the variable ASSAY_PARENT holds the id of the process that started this one: be killed when that ends,
/// however it ends. Without it a program outlives its shell, as nohup wants it. Failure (usage): it holds no id.
void end_with_parent();

}  // namespace assay
