// A test double of NVRTC: the same C interface, and kernels compiled for this processor by clang.
//
// SIMT_CLANG and SIMT_LINKER are commands, SIMT_HEADER is the path of cuda_on_cpu.h, SIMT_CHECKS
// that of the object of shared_checks.cpp.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace {
struct Program {
  std::string source, name, log, binary;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string environment(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

bool known(const std::string& option) {
  static const char* const starts[] = {
      "--gpu-architecture=sm_", "--gpu-architecture=compute_", "--std=c++", "--fmad=", "--ftz=",
      "--prec-div=", "--prec-sqrt=", "--device-as-default-execution-space", "--disable-warnings",
  };
  for (const char* start : starts)
    if (option.rfind(start, 0) == 0) return true;
  return false;
}
}  // namespace

extern "C" {
const char* nvrtcGetErrorString(int result) {
  return result == 0 ? "SUCCESS" : result == 5 ? "INVALID_OPTION" : result == 6 ? "COMPILATION"
                                                                               : "OTHER";
}
int nvrtcVersion(int* major, int* minor) {
  *major = 13, *minor = 0;
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 3;
  return 0;
}
// Threads that a block may have, as the kernel declares them.
static std::string launch_bounds(const std::string& source) {
  size_t start = source.find("__launch_bounds__(");
  return start == std::string::npos ? "1024" : std::to_string(atoi(source.c_str() + start + 18));
}
// Shared memory whose size the launch says: its name, and a place for the most there may be.
static std::string dynamic_shared(std::string& source) {
  size_t start = source.find("extern __shared__");
  if (start == std::string::npos) return "unsigned char* simt_dynamic() { return nullptr; }";
  size_t end = source.find("[]", start), name = source.find_last_of(" ", end) + 1;
  std::string word = source.substr(name, end - name);
  replace_all(source, "extern __shared__", "extern");
  return "}\n__attribute__((aligned(16))) unsigned char " + word + "[101376];\nextern \"C\" {\n" +
         "unsigned char* simt_dynamic() { return " + word + "; }";
}
// The instruction of a matrix unit becomes a call of what plays it. True if there was one.
static bool replace_units(std::string& source) {
  bool found = false;
  for (;;) {
    size_t start = source.find("asm(\"mma.sync");
    if (start == std::string::npos) return found;
    size_t end = source.find(");\n", start);
    source.replace(start, end - start + 2, "simt_mma<sizeof(a.lane) / sizeof(a[0]), sizeof(b.lane) / sizeof(b[0])>(a.lane, b.lane, c.lane);");
    found = true;
  }
}
// The product of warpgroups is the function of that name in cuda_on_cpu.h.
static void replace_warpgroups(std::string& source) {
  size_t start = source.find("template <class T> __device__ inline void copy_piece(");
  if (start == std::string::npos) return;
  size_t end = source.find("\n}\n", source.find("inline float warpgroup_product(")) + 3;
  source.erase(start, end - start);
}
// A statement by the words that it begins with.
static void replace_statement(std::string& source, const char* words, const char* other) {
  for (size_t at; (at = source.find(words)) != std::string::npos;)
    source.replace(at, source.find(");", at) - at + 2, other);
}
// So do asynchronous copies, each statement by the words that it begins with.
static void replace_copies(std::string& source) {
  const char* const plays[][2] = {
      {"asm volatile(\"{.reg .u64 s;", "simt_copy(to, from, N, read);"},
      {"asm volatile(\"cp.async.commit_group", "simt_commit();"},
      {"asm volatile(\"cp.async.wait_group", "simt_wait(NEWER);"},
  };
  for (auto& [words, call] : plays) replace_statement(source, words, call);
}
int nvrtcGetSupportedArchs(int* numbers) {
  numbers[0] = 75, numbers[1] = 80, numbers[2] = 90;
  return 0;
}
int nvrtcCreateProgram(Program** program, const char* source, const char* name, int headers,
                       const char* const*, const char* const*) {
  if (headers) return 2;
  std::string stem = name;
  *program = new Program{source, stem.substr(0, stem.rfind('.')), "", ""};
  return 0;
}
int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  for (int i = 0; i < count; i++)
    if (!known(options[i])) {
      program->log = std::string("unrecognized option ") + options[i];
      return 5;
    }
  std::string source = program->source;
  replace_all(source, R"(asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));)",
              "simt_f16_from_f32(bits, x);");
  replace_all(source, R"(asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));)",
              "simt_f32_from_f16(x, bits);");
  replace_statement(source, "asm(\"{.reg .u32 x, y; xor.b32", "larger = a < b ? b : a;");
  replace_warpgroups(source);
  bool units = replace_units(source);
  replace_copies(source);
  // what plays a unit rounds its factors itself
  replace_all(source, R"(asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));)", "bits = 0;");
  bool barriers = units || source.find("__syncthreads") != std::string::npos ||
                  source.find("__shfl_xor_sync") != std::string::npos;
  char folder[] = "/tmp/weft-simt-XXXXXX";
  if (!mkdtemp(folder)) return 11;
  std::string base = folder, file = base + "/k.cu";
  std::string bounds = launch_bounds(source), dynamic = dynamic_shared(source);
  std::ofstream(file) << source << "\nSIMT_KERNEL(" << program->name << ", " << barriers << ")\n"
                      << "extern \"C\" {\n__attribute__((visibility(\"default\"))) unsigned "
                      << "simt_most_threads = " << bounds << ";\n" << dynamic << "\n}\n";
  std::string quoted = "'" + base;
  // From within the folder: its name, which is never the same, must not get into the code.
  std::string compile = "cd " + quoted + "' && " + environment("SIMT_CLANG") +
      " -c -x c++ -std=c++17 -O1 -march=native -ffreestanding -fPIC -fno-semantic-interposition"
      " -ffp-contract=off -fwrapv -fno-math-errno -fno-strict-aliasing -fno-exceptions -fno-rtti"
      " -fno-asynchronous-unwind-tables -fno-stack-protector -w"
      " -Xclang -ffloat16-excess-precision=none"
      " -fsanitize=kernel-address -mllvm -asan-instrumentation-with-call-threshold=0"
      " -mllvm -asan-globals=1 -mllvm -asan-stack=0"
      " -include '" + environment("SIMT_HEADER") + "' -o k.o k.cu 2> log";
  std::string link = environment("SIMT_LINKER") + " -shared -Bsymbolic -o " + quoted + "/k.so' " + quoted +
      "/k.o' '" + environment("SIMT_CHECKS") + "' 2>> " + quoted + "/log'";
  bool done = system(compile.c_str()) == 0 && system(link.c_str()) == 0;
  program->log = read(base + "/log");
  if (done) program->binary = read(base + "/k.so");
  for (const char* name : {"/k.cu", "/k.o", "/k.so", "/log"}) unlink((base + name).c_str());
  rmdir(folder);
  return done ? 0 : 6;
}
int nvrtcGetProgramLogSize(Program* program, size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program* program, char* log) {
  memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}
int nvrtcGetCUBINSize(Program* program, size_t* size) {
  *size = program->binary.size();
  return 0;
}
int nvrtcGetCUBIN(Program* program, char* binary) {
  memcpy(binary, program->binary.data(), program->binary.size());
  return 0;
}
int nvrtcGetPTXSize(Program*, size_t* size) {
  *size = 1;
  return 0;
}
int nvrtcGetPTX(Program*, char* text) {
  *text = 0;
  return 0;
}
}
