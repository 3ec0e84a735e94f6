// Compiles HLSL as DX12 does on Windows: with DXC, Microsoft's compiler, to DXIL, which it validates.
//
// Input: DXC's library, then files of HLSL, whose entry point is the one after `[numthreads`. Output: a line
// `FILE: what it says` for each that is refused. Exit code 1 where there is one.
#include "WinAdapter.h"
#include "dxcapi.h"

#include <dlfcn.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

static std::wstring entry_of(const std::string& text) {
    size_t at = text.find("[numthreads(");
    at = at == std::string::npos ? at : text.find("void ", at);
    if (at == std::string::npos) return L"main";
    size_t begin = at + 5, end = text.find('(', begin);
    return std::wstring(text.begin() + begin, text.begin() + end);
}

int main(int count, char** words) {
    void* library = dlopen(words[1], RTLD_NOW);
    auto create = library ? (DxcCreateInstanceProc)dlsym(library, "DxcCreateInstance") : nullptr;
    IDxcCompiler3* compiler = nullptr;
    if (create == nullptr || FAILED(create(CLSID_DxcCompiler, __uuidof(IDxcCompiler3), (void**)&compiler))) {
        printf("DXC cannot be loaded: %s\n", dlerror());
        return 2;
    }
    int refused = 0;
    for (int i = 2; i < count; i++) {
        std::ifstream file(words[i], std::ios::binary);
        std::string text{std::istreambuf_iterator<char>(file), {}};
        DxcBuffer buffer{text.data(), text.size(), CP_UTF8};
        std::wstring entry = entry_of(text);
        const wchar_t* arguments[] = {L"-T", L"cs_6_6", L"-E", entry.c_str(), L"-enable-16bit-types",
                                      L"-HV", L"2018", L"-Wno-parentheses-equality"};
        IDxcResult* result = nullptr;
        HRESULT status = compiler->Compile(&buffer, arguments, 8, nullptr, __uuidof(IDxcResult),
                                           (void**)&result);
        if (SUCCEEDED(status)) result->GetStatus(&status);
        if (SUCCEEDED(status)) continue;
        refused++;
        IDxcBlobUtf8* errors = nullptr;
        if (result) result->GetOutput(DXC_OUT_ERRORS, __uuidof(IDxcBlobUtf8), (void**)&errors, nullptr);
        printf("%s: %s\n", words[i], errors ? errors->GetStringPointer() : "no message");
    }
    return refused > 0;
}
