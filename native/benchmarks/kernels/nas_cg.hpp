// CG, conjugate gradient: the smallest eigenvalue of a sparse symmetric matrix of random pattern, by inverse
// iteration whose systems are solved by 25 steps of conjugate gradients (RNR-94-007, 3.3.1).
#pragma once

#include <cmath>
#include <utility>

#include "benchmarks/kernels/nas_problem.hpp"
#include "benchmarks/kernels/nas_random.hpp"
#include "harness/instructions.hpp"
#include "harness/memory.hpp"
#include "harness/vector.hpp"

namespace assay::nas {

/// The random sparse vectors of the matrix, all of them on every rank.
class SparseVectors {
  public:
    struct Element {
        std::int32_t place;
        double value;
    };

    /// `count` vectors of that length with `nonzeros` random elements each, and 1/2 at the position of their own
    /// number.
    SparseVectors(std::size_t count, std::size_t nonzeros) {
        Random random;
        random.next();  // the definition draws one number first
        const double range = std::exp2(std::ceil(std::log2(static_cast<double>(count))));
        starts_.push_back(0);
        for (std::size_t vector = 0; vector < count; ++vector) {
            const auto first = static_cast<std::ptrdiff_t>(elements_.size());
            while (elements_.size() - static_cast<std::size_t>(first) < nonzeros) {
                const double value = random.next();
                const auto place = static_cast<std::size_t>(range * random.next());
                if (place < count && find(first, place) == elements_.end()) {
                    elements_.push_back({static_cast<std::int32_t>(place), value});
                }
            }
            const auto own = find(first, vector);
            if (own == elements_.end()) {
                elements_.push_back({static_cast<std::int32_t>(vector), own_value});
            } else {
                own->value = own_value;
            }
            starts_.push_back(elements_.size());
        }
    }

    /// Calls use(vector, element, all of its elements) for each element, vector by vector.
    template <class Use>
    void each(const Use& use) const {
        for (std::size_t vector = 0; vector + 1 < starts_.size(); ++vector) {
            const Elements all{elements_.data() + starts_[vector], elements_.data() + starts_[vector + 1]};
            for (const Element& element : all) {
                use(vector, element, all);
            }
        }
    }

    struct Elements {
        const Element* first;
        const Element* last;
        [[nodiscard]] const Element* begin() const { return first; }
        [[nodiscard]] const Element* end() const { return last; }
        [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last - first); }
    };

  private:
    static constexpr double own_value = .5;

    std::vector<Element>::iterator find(std::ptrdiff_t first, std::size_t place) {
        return std::find_if(elements_.begin() + first, elements_.end(), [&](const Element& element) {
            return element.place == static_cast<std::int32_t>(place);
        });
    }

    std::vector<Element> elements_;
    std::vector<std::size_t> starts_;
};

/// Some rows of a sparse matrix. Each row is filled with zeros to whole vectors.
class SparseRows {
  public:
    /// Rows `own` of the sum over i of ratio^i x_i x_i', where ratio^n is 1/10, plus `diagonal` on the diagonal.
    SparseRows(const SparseVectors& vectors, std::size_t order, Part own, double diagonal, Memory& memory)
        : starts_(own.end - own.begin + 1) {
        const auto row_of = [&](const SparseVectors::Element& element) {
            return static_cast<std::size_t>(element.place) - own.begin;  // wraps if it is before them
        };
        const std::size_t rows = own.end - own.begin;
        std::vector<std::size_t> room(rows, 1);  // the diagonal
        vectors.each([&](std::size_t, const auto& element, const auto& all) {
            if (row_of(element) < rows) {
                room[row_of(element)] += all.size();
            }
        });
        std::size_t place_count = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            starts_[row] = place_count;
            place_count += whole(room[row]);
        }
        starts_[rows] = place_count;
        values_ = reinterpret_cast<double*>(memory.allocate((place_count + 1) * sizeof(double)));
        columns_ = reinterpret_cast<std::int32_t*>(memory.allocate((place_count + lanes) * sizeof(std::int32_t)));
        std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
        const double ratio = std::pow(smallest, 1 / static_cast<double>(order));
        double scale = 1;
        std::size_t last = 0;
        vectors.each([&](std::size_t vector, const auto& element, const auto& all) {
            for (; last < vector; ++last) {
                scale *= ratio;
            }
            if (row_of(element) >= rows) {
                return;
            }
            for (const auto& other : all) {
                append(next[row_of(element)], other.place, element.value * other.value * scale);
            }
        });
        for (std::size_t row = 0; row < rows; ++row) {
            append(next[row], static_cast<std::int32_t>(own.begin + row), diagonal);
        }
        merge(next);
    }

    [[nodiscard]] std::size_t rows() const { return starts_.size() - 1; }
    /// y = A x; x is the whole vector.
    void multiply(const double* x, double* y) const {
        for (std::size_t row = 0; row < rows(); ++row) {
            Vector sum{};
            Vector other{};
            std::size_t each = starts_[row];
            for (; each + 2 * lanes <= starts_[row + 1]; each += 2 * lanes) {
                sum += value(each) * gather(x, columns_ + each);
                other += value(each + lanes) * gather(x, columns_ + each + lanes);
            }
            if (each < starts_[row + 1]) {
                sum += value(each) * gather(x, columns_ + each);
            }
            y[row] = total(sum + other);
        }
    }

    static double total(Vector numbers) {
        double sum = 0;
        for (int lane = 0; lane < vector_doubles; ++lane) {
            sum += numbers[lane];
        }
        return sum;
    }

  private:
    static constexpr double smallest = .1;
    static constexpr std::size_t lanes = vector_doubles;

    static std::size_t whole(std::size_t count) { return (count + lanes - 1) / lanes * lanes; }

    [[nodiscard]] const Vector& value(std::size_t place) const {
        return *reinterpret_cast<const Vector*>(values_ + place);
    }

    static Vector gather(const double* numbers, const std::int32_t* places) {
#if defined(__AVX512F__)
        const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(places));
        return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, eight, numbers, 8);
#elif defined(__AVX2__)
        const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(places));
        const __m256d every = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
        return _mm256_mask_i32gather_pd(_mm256_setzero_pd(), numbers, four, every, 8);
#else
        Vector found{};
        for (int lane = 0; lane < vector_doubles; ++lane) {
            found[lane] = numbers[places[lane]];
        }
        return found;
#endif
    }

    void append(std::size_t& next, std::int32_t column, double value) {
        values_[next] = value;
        columns_[next] = column;
        ++next;
    }

    /// Sorts the elements of each row, adds up those of one column, and closes the gaps between rows.
    void merge(const std::vector<std::size_t>& ends) {
        std::vector<std::pair<std::int32_t, double>> row_elements;
        std::size_t to = 0;
        for (std::size_t row = 0; row < rows(); ++row) {
            row_elements.clear();
            for (std::size_t from = starts_[row]; from < ends[row]; ++from) {
                row_elements.emplace_back(columns_[from], values_[from]);
            }
            std::stable_sort(row_elements.begin(), row_elements.end(),
                             [](const auto& one, const auto& other) { return one.first < other.first; });
            starts_[row] = to;
            for (const auto& [column, value] : row_elements) {
                if (to > starts_[row] && columns_[to - 1] == column) {
                    values_[to - 1] += value;
                } else {
                    append(to, column, value);
                }
            }
            const std::int32_t any = columns_[starts_[row]];
            while (to % lanes != 0) {
                append(to, any, 0);
            }
        }
        starts_.back() = to;
    }

    std::vector<std::size_t> starts_;
    double* values_ = nullptr;
    std::int32_t* columns_ = nullptr;
};

class Cg final : public Problem {
  public:
    Cg(Class size, const Numbers& numbers, Messages& messages, Memory& memory)
        : published_(of_class(published, size)),
          order_(count_of(numbers, "order")),
          iterations_(static_cast<int>(numbers.at("cg-iterations"))),
          messages_(messages),
          own_(messages.part(order_)),
          matrix_(SparseVectors(order_, count_of(numbers, "nonzeros")), order_, own_, smallest - published_.shift,
                  memory) {
        const std::size_t rows = own_.end - own_.begin;
        auto* next = reinterpret_cast<double*>(memory.allocate((order_ + 4 * rows) * sizeof(double)));
        for (double** each : {&whole_, &x_, &z_, &r_, &q_}) {
            *each = next;
            next += each == &whole_ ? order_ : rows;
        }
        p_ = whole_ + own_.begin;
        std::fill(whole_, next, 0.);
        for (int rank = 0; rank < messages.ranks(); ++rank) {
            const Part part = messages.part(order_, 1, rank);
            counts_.push_back(static_cast<int>(part.end - part.begin));
            starts_.push_back(static_cast<int>(part.begin));
        }
    }

    void prepare() override {
        zeta_ = 0;
        std::fill_n(x_, matrix_.rows(), 1.);
    }

    void solve() override {
        for (int iteration = 0; iteration < iterations_; ++iteration) {
            conjugate_gradients();
            const std::size_t rows = matrix_.rows();
            std::array<double, 2> products{sum_over(rows, [&](std::size_t row) { return x_[row] * z_[row]; }),
                                           sum_over(rows, [&](std::size_t row) { return z_[row] * z_[row]; })};
            messages_.add_up(products);
            zeta_ = published_.shift + 1 / products[0];
            const double scale = 1 / std::sqrt(products[1]);
            for (std::size_t row = 0; row < rows; ++row) {
                x_[row] = scale * z_[row];
            }
        }
    }

    [[nodiscard]] double error() override { return deviation(zeta_, published_.zeta); }
    [[nodiscard]] double tolerance() const override { return 1e-10; }

    /// ||x - A z|| of the last system.
    [[nodiscard]] double residual() const { return residual_; }

  private:
    struct Published {
        double shift;
        double zeta;
    };

    // S, A, B: RNR-94-007, table 3.4 (in more digits, and S: NPB 2); W, C: NPB 2; D: NPB 3.
    static constexpr ByClass<Published> published{{{10, 8.5971775078648},
                                                   {12, 10.362595087124},
                                                   {20, 17.130235054029},
                                                   {60, 22.712745482631},
                                                   {110, 28.973605592845},
                                                   {500, 52.514532105794}}};
    static constexpr int steps_of_each = 25;
    static constexpr double smallest = .1;

    /// Solves A z = x from z = 0. Like NPB it also computes the norm of the residual.
    void conjugate_gradients() {
        const std::size_t rows = matrix_.rows();
        std::fill_n(z_, rows, 0.);
        std::copy_n(x_, rows, r_);
        std::copy_n(x_, rows, p_);
        const auto square_of_r = [&](std::size_t row) { return r_[row] * r_[row]; };
        double square = messages_.sum(sum_over(rows, square_of_r));
        for (int step = 0; step < steps_of_each; ++step) {
            multiply();
            const double product = sum_over(rows, [&](std::size_t row) { return p_[row] * q_[row]; });
            const double alpha = square / messages_.sum(product);
            for (std::size_t row = 0; row < rows; ++row) {
                z_[row] += alpha * p_[row];
                r_[row] -= alpha * q_[row];
            }
            const double next = messages_.sum(sum_over(rows, square_of_r));
            const double beta = next / square;
            square = next;
            for (std::size_t row = 0; row < rows; ++row) {
                p_[row] = r_[row] + beta * p_[row];
            }
        }
        std::copy_n(z_, rows, p_);
        multiply();
        const auto rest = [&](std::size_t row) { return (x_[row] - q_[row]) * (x_[row] - q_[row]); };
        residual_ = std::sqrt(messages_.sum(sum_over(rows, rest)));
    }

    /// q = A p, after every rank has received p of all others.
    void multiply() {
        messages_.gather(whole_, counts_, starts_);
        matrix_.multiply(whole_, q_);
    }

    const Published& published_;
    std::size_t order_;
    int iterations_;
    Messages& messages_;
    Part own_;
    SparseRows matrix_;
    double* whole_ = nullptr;  ///< p of all ranks
    double* p_ = nullptr;      ///< the part of this rank in it
    double* x_ = nullptr;
    double* z_ = nullptr;
    double* r_ = nullptr;
    double* q_ = nullptr;
    std::vector<int> counts_;
    std::vector<int> starts_;
    double zeta_ = 0;
    double residual_ = 0;
};

}  // namespace assay::nas
