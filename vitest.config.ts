import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["packages/*", "apps/*", { test: { name: "tools", include: ["tools/*.test.ts"], testTimeout: 60_000 } }],
    coverage: { provider: "v8", include: ["{packages,apps}/*/src/**/*.ts"] },
    reporters: ["default", "./tools/closing-line.ts"],
  },
});
