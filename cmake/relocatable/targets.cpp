// LLD registers every target that LLVM was built with. Those that svodc compiles for are linked, and the others, a
// third of the file, are left out: toolchain/code_features.cpp has the list.
#define SVOD_LEFT_OUT(name)                  \
  void LLVMInitialize##name##TargetInfo() {} \
  void LLVMInitialize##name##Target() {}     \
  void LLVMInitialize##name##TargetMC() {}   \
  void LLVMInitialize##name##AsmPrinter() {} \
  void LLVMInitialize##name##AsmParser() {}  \
  void LLVMInitialize##name##Disassembler() {}

extern "C" {
SVOD_LEFT_OUT(AMDGPU)
SVOD_LEFT_OUT(AVR)
SVOD_LEFT_OUT(BPF)
SVOD_LEFT_OUT(Hexagon)
SVOD_LEFT_OUT(Lanai)
SVOD_LEFT_OUT(LoongArch)
SVOD_LEFT_OUT(M68k)
SVOD_LEFT_OUT(MSP430)
SVOD_LEFT_OUT(Mips)
SVOD_LEFT_OUT(NVPTX)
SVOD_LEFT_OUT(PowerPC)
SVOD_LEFT_OUT(Sparc)
SVOD_LEFT_OUT(SystemZ)
SVOD_LEFT_OUT(VE)
SVOD_LEFT_OUT(XCore)
SVOD_LEFT_OUT(Xtensa)
}
