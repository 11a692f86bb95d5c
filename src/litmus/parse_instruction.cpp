#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "litmus/names.hpp"

namespace muster::litmus {
namespace {

template <class T>
using Words = std::map<std::string, T, std::less<>>;

// An instruction word by its parts: "atom.acq_rel.sys.sub" is atom, acq_rel, sys, sub.
class Parts {
 public:
  explicit Parts(Token token) : token_(std::move(token)) {
    std::size_t begin = 0;
    for (std::size_t dot; (dot = token_.text.find('.', begin)) != std::string::npos;
         begin = dot + 1)
      parts_.push_back(token_.text.substr(begin, dot - begin));
    parts_.push_back(token_.text.substr(begin));
  }

  [[nodiscard]] const Token& token() const { return token_; }
  [[nodiscard]] bool at(std::string_view word) const {
    return next_ < parts_.size() && parts_[next_] == word;
  }
  bool take_if(std::string_view word) { return at(word) && (++next_, true); }

  // The next part as one of `known`; refused by name where it is none of them.
  template <class T>
  T take(const Words<T>& known, std::string_view what) {
    std::vector<std::string> names;
    for (const auto& [name, value] : known) names.push_back(name);
    if (next_ == parts_.size())
      throw Refusal(token_,
                    fmt::format("'{}' lacks {}: .{}", token_.text, what, fmt::join(names, ", .")));
    const auto found = known.find(parts_[next_]);
    if (found == known.end())
      throw Refusal(
          token_, fmt::format("'.{}' in '{}' is not known here; {} is one of .{}{}", parts_[next_],
                              token_.text, what, fmt::join(names, ", ."), hint(parts_[next_])));
    ++next_;
    return found->second;
  }

  void finish() const {
    if (next_ == parts_.size()) return;
    throw Refusal(token_, fmt::format("'.{}' in '{}' is not known here; nothing is to follow{}",
                                      parts_[next_], token_.text, hint(parts_[next_])));
  }

 private:
  // What the model lacks, in words.
  static std::string hint(const std::string& part) {
    static const Words<std::string> lacking{
        {"proxy", "proxies"},      {"surface", "proxies"}, {"texture", "proxies"},
        {"constant", "proxies"},   {"alias", "proxies"},   {"v2", "vectors"},
        {"v4", "vectors"},         {"v8", "vectors"},      {"cluster", "clusters"},
        {"async", "async copies"}, {"mmio", "mmio"}};
    const auto found = lacking.find(part);
    if (found != lacking.end()) return fmt::format(" (the model has no {})", found->second);
    if (part.size() > 1 && std::string_view("bfsu").find(part[0]) != std::string_view::npos &&
        part.find_first_not_of("0123456789", 1) == std::string::npos)
      return " (sizes and types are not mixed: every location is one word)";
    return {};
  }

  Token token_;
  std::vector<std::string> parts_;
  std::size_t next_ = 1;
};

const Words<Scope> scopes{{"cta", Scope::cta}, {"gpu", Scope::gpu}, {"sys", Scope::sys}};

const Words<Function> atomic_functions{{"add", Function::add},     {"sub", Function::sub},
                                       {"exch", Function::second}, {"cas", Function::cas},
                                       {"and", Function::bit_and}, {"or", Function::bit_or},
                                       {"xor", Function::bit_xor}};

const Words<Function> register_functions{{"mov", Function::second},  {"add", Function::add},
                                         {"sub", Function::sub},     {"mul", Function::mul},
                                         {"and", Function::bit_and}, {"or", Function::bit_or},
                                         {"xor", Function::bit_xor}};

const Words<Comparison> branches{{"beq", Comparison::eq}, {"bne", Comparison::ne},
                                 {"blt", Comparison::lt}, {"ble", Comparison::le},
                                 {"bgt", Comparison::gt}, {"bge", Comparison::ge}};

class Cell {
 public:
  Cell(Reader& reader, Program& program, Thread& thread, Labels& labels)
      : reader_(reader), program_(program), thread_(thread), labels_(labels) {}

  void read() {
    while (reader_.peek(1).text == ":" && reader_.peek().kind == Token::Kind::word) {
      const Token label = reader_.take();
      if (!labels_.places.emplace(label.text, thread_.code.size()).second)
        throw Refusal(label, fmt::format("label {} is there twice", quoted(label)));
      reader_.take();
    }
    if (reader_.at("|") || reader_.at(";")) return;
    if (reader_.peek().kind != Token::Kind::word)
      throw Refusal(reader_.peek(),
                    fmt::format("{} where an instruction was to come", quoted(reader_.peek())));
    Parts parts(reader_.take());
    dispatch(parts);
    parts.finish();
    describe(parts);
    thread_.code.push_back(std::move(made_));
  }

 private:
  void dispatch(Parts& parts) {
    const std::string& word = parts.token().text;
    const std::string head = word.substr(0, word.find('.'));
    if (head == "ld") return load(parts);
    if (head == "st") return store(parts);
    if (head == "atom" || head == "red") return atomic(parts, head == "atom");
    if (head == "fence" || head == "membar") return fence(parts, head == "membar");
    if (head == "bar" || head == "barrier") return barrier(parts);
    if (head == "goto") return jump();
    if (const auto found = branches.find(head); found != branches.end())
      return branch(found->second);
    if (const auto found = register_functions.find(head); found != register_functions.end())
      return compute(found->second);
    static const Words<int> proxied{{"suld", 0},   {"sust", 0},  {"tld", 0}, {"cold", 0},
                                    {"suatom", 0}, {"sured", 0}, {"tex", 0}};
    if (proxied.contains(head))
      throw Refusal(parts.token(),
                    fmt::format("'{}' has a proxy of its own; the model has no proxies, "
                                "write ld, st, atom or red",
                                word));
    throw Refusal(
        parts.token(),
        fmt::format("there is no instruction '{}' here; there are ld, st, atom, red, fence, "
                    "membar, bar, goto, beq, bne, blt, ble, bgt, bge, mov, add, sub, mul, "
                    "and, or, xor",
                    word));
  }

  // weak, volatile (relaxed, for the whole system), or an order and its scope.
  void access(Parts& parts, const Words<Order>& orders) {
    made_.scope = Scope::sys;
    if (parts.take_if("volatile")) {
      made_.order = Order::relaxed;
      return;
    }
    made_.order = parts.take(orders, "the order");
    if (made_.order != Order::weak) made_.scope = parts.take(scopes, "the scope");
  }

  void load(Parts& parts) {
    made_.op = Op::load;
    access(parts,
           {{"weak", Order::weak}, {"relaxed", Order::relaxed}, {"acquire", Order::acquire}});
    target(), comma();
    if (reader_.peek().kind != Token::Kind::number) return location();
    // A load of a number, as some write mov.
    made_.op = Op::compute;
    operand();
  }

  void store(Parts& parts) {
    made_.op = Op::store;
    access(parts,
           {{"weak", Order::weak}, {"relaxed", Order::relaxed}, {"release", Order::release}});
    location(), comma(), operand();
  }

  void atomic(Parts& parts, bool returns) {
    made_.op = Op::atomic;
    access(parts, {{"relaxed", Order::relaxed},
                   {"acquire", Order::acquire},
                   {"release", Order::release},
                   {"acq_rel", Order::acq_rel}});
    made_.function = parts.take(atomic_functions, "the operation");
    if (made_.function == Function::cas && !returns)
      throw Refusal(parts.token(), "red has no cas; write atom");
    if (returns) target(), comma();
    location(), comma(), operand();
    if (made_.function == Function::cas) comma(), operand();
  }

  void fence(Parts& parts, bool membar) {
    made_.op = Op::fence;
    made_.order = Order::sc;
    if (membar) {
      const Words<Scope> levels{{"cta", Scope::cta}, {"gl", Scope::gpu}, {"sys", Scope::sys}};
      made_.scope = parts.take(levels, "the level");
      return;
    }
    const Words<Order> orders{{"acq_rel", Order::acq_rel}, {"sc", Order::sc}};
    made_.order = parts.take(orders, "the order");
    made_.scope = parts.take(scopes, "the scope");
  }

  // bar.cta.sync ID[, SECOND]: threads of a cta meet where both operands are the same.
  void barrier(Parts& parts) {
    made_.op = Op::barrier;
    parts.take_if("cta");
    const Words<bool> kinds{{"sync", false}, {"arrive", true}};
    made_.arrives = parts.take(kinds, "the kind of barrier");
    operand();
    if (!reader_.take_if(",")) return;
    operand();
    if (reader_.at(","))
      throw Refusal(
          reader_.peek(),
          fmt::format("'{}' has a third operand; the model has no barriers that wait for a "
                      "number of threads, write one or two operands",
                      parts.token().text));
  }

  void compute(Function function) {
    made_.op = Op::compute;
    made_.function = function;
    target(), comma(), operand();
    if (function != Function::second) comma(), operand();
  }

  void branch(Comparison comparison) {
    made_.op = Op::branch;
    made_.comparison = comparison;
    operand(), comma(), operand(), comma(), label();
  }

  void jump() {
    made_.op = Op::jump;
    label();
  }

  void label() {
    const Token at = reader_.peek();
    said_.push_back(take_name(reader_, "a label"));
    labels_.branches.push_back({thread_.code.size(), at});
  }

  void target() {
    said_.push_back(take_name(reader_, "the register that is written"));
    made_.target = register_number(thread_, said_.back());
  }

  void location() {
    const bool bracket = reader_.take_if("[");
    said_.push_back(take_name(reader_, "a location"));
    if (bracket) reader_.expect("]", "behind a location");
    if (std::find(thread_.registers.begin(), thread_.registers.end(), said_.back()) !=
        thread_.registers.end())
      throw Refusal(reader_.peek(), fmt::format("'{}' is a register of this thread: addresses in "
                                                "registers are not known here, name the location",
                                                said_.back()));
    made_.location = location_number(program_, said_.back());
  }

  void operand() {
    const Token token = reader_.peek();
    Operand made;
    if (token.kind == Token::Kind::number) {
      made.value = take_number(reader_, "an operand");
    } else {
      made.is_register = true;
      const std::string name = take_name(reader_, "a register or a number");
      for (const Location& one : program_.locations) {
        if (one.name == name)
          throw Refusal(token,
                        fmt::format("'{}' is a location: only ld, st, atom and red reach it; "
                                    "write a register or a number",
                                    name));
      }
      made.reg = register_number(thread_, name);
    }
    said_.push_back(token.text);
    made_.operands.push_back(made);
  }

  void comma() { reader_.expect(",", "between operands"); }

  void describe(const Parts& parts) {
    made_.text = fmt::format("{} {}", parts.token().text, fmt::join(said_, ", "));
    if (said_.empty()) made_.text.pop_back();
  }

  Reader& reader_;
  Program& program_;
  Thread& thread_;
  Labels& labels_;
  Instruction made_;
  std::vector<std::string> said_;
};

}  // namespace

void read_cell(Reader& reader, Program& program, Thread& thread, Labels& labels) {
  Cell(reader, program, thread, labels).read();
}

}  // namespace muster::litmus
