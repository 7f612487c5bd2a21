import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: [".venv/", ".cache/", "build/", "types/"] },
  js.configs.recommended,
  {
    languageOptions: { globals: globals.browser },
    rules: { eqeqeq: "error", "no-shadow": "error", "no-var": "error", "prefer-const": "error" },
  },
  { files: ["tests/js/**", "eslint.config.js"], languageOptions: { globals: globals.node } },
];
