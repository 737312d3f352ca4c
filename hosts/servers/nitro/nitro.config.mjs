export default { srcDir: ".", compatibilityDate: "2025-05-01" };
