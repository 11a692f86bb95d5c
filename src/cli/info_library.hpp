// A library that may be missing, loaded at run time, with functions that it may lack.
#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>

namespace muster::cli {

class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) missing_ = dlerror();
  }

  [[nodiscard]] bool is_loaded() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& missing() const { return missing_; }  // why it is not loaded
  [[nodiscard]] bool has(const char* name) const {
    return is_loaded() && dlsym(handle_.get(), name) != nullptr;
  }

  // What the function returns, an int; -1 where there is none such.
  template <class Signature, class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    if (!is_loaded()) return -1;
    auto* function = reinterpret_cast<Signature*>(dlsym(handle_.get(), name));
    return function == nullptr ? -1 : function(arguments...);
  }

 private:
  struct Close {
    void operator()(void* library) const { dlclose(library); }
  };
  std::unique_ptr<void, Close> handle_;
  std::string missing_;
};

}  // namespace muster::cli
