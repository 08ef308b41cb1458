# The BLAS itself is loaded at launch; old C libraries keep the loader in a separate library.
set(libraries ${CMAKE_DL_LIBS})
