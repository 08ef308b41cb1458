# Its messages are part of its time: they are counted.
set(libraries counted)
