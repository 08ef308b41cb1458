! Plain versions of LINPACK's DGEFA and DGESL with DAXPY in Fortran, called from C++.
module linpack
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int64_t
  use, intrinsic :: iso_fortran_env, only: compiler_version
  implicit none
  private

contains

  ! y + a x: most of the time is spent here.
  pure subroutine daxpy(n, a, x, y)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: a, x(n)
    real(c_double), intent(inout) :: y(n)
    integer(c_int64_t) :: i
    do i = 1, n
      y(i) = y(i) + a * x(i)
    end do
  end subroutine daxpy

  pure subroutine dscal(n, a, x)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: a
    real(c_double), intent(inout) :: x(n)
    integer(c_int64_t) :: i
    do i = 1, n
      x(i) = a * x(i)
    end do
  end subroutine dscal

  ! Index of the largest magnitude, the first of equal ones.
  pure function idamax(n, x) result(place)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: x(n)
    integer(c_int64_t) :: place, i
    real(c_double) :: most
    place = 1
    most = abs(x(1))
    do i = 2, n
      if (abs(x(i)) > most) then
        most = abs(x(i))
        place = i
      end if
    end do
  end function idamax

  ! A = L U with partial pivoting, column by column; multipliers are negated and stay where they arise.
  subroutine dgefa(a, leading, n, pivots) bind(c, name="linpack_dgefa")
    integer(c_int64_t), value :: leading, n
    real(c_double), intent(inout) :: a(leading, n)
    integer(c_int64_t), intent(out) :: pivots(n)
    integer(c_int64_t) :: j, k, pivot
    real(c_double) :: t
    do k = 1, n - 1
      pivot = k - 1 + idamax(n - k + 1, a(k, k))
      pivots(k) = pivot
      if (a(pivot, k) == 0) cycle
      t = a(pivot, k)
      a(pivot, k) = a(k, k)
      a(k, k) = t
      call dscal(n - k, -1 / t, a(k + 1, k))
      do j = k + 1, n
        t = a(pivot, j)
        if (pivot /= k) then
          a(pivot, j) = a(k, j)
          a(k, j) = t
        end if
        call daxpy(n - k, t, a(k + 1, k), a(k + 1, j))
      end do
    end do
    pivots(n) = n
  end subroutine dgefa

  ! Replaces b by the solution of A x = b, with the factors from dgefa.
  subroutine dgesl(a, leading, n, pivots, b) bind(c, name="linpack_dgesl")
    integer(c_int64_t), value :: leading, n
    real(c_double), intent(in) :: a(leading, n)
    integer(c_int64_t), intent(in) :: pivots(n)
    real(c_double), intent(inout) :: b(n)
    integer(c_int64_t) :: k
    real(c_double) :: t
    do k = 1, n - 1
      t = b(pivots(k))
      b(pivots(k)) = b(k)
      b(k) = t
      call daxpy(n - k, t, a(k + 1, k), b(k + 1))
    end do
    do k = n, 1, -1
      b(k) = b(k) / a(k, k)
      call daxpy(k - 1, -b(k), a(1, k), b)
    end do
  end subroutine dgesl

  ! The compiler's name of itself, padded with blanks.
  subroutine compiler(text, length) bind(c, name="linpack_compiler")
    integer(c_int64_t), value :: length
    character(kind=c_char), intent(out) :: text(length)
    character(len=*), parameter :: name = compiler_version()
    integer(c_int64_t) :: i
    text = " "
    do i = 1, min(length, len(name, kind=c_int64_t))
      text(i) = name(i:i)
    end do
  end subroutine compiler

end module linpack
