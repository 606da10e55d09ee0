import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["packages/*", "apps/*", { test: { name: "tools", include: ["tools/*.test.ts"], testTimeout: 60_000 } }],
    // Vitest leaves one processor free by default. Tests wait for browsers and databases most of the time, and two processors are few.
    maxWorkers: "100%",
    coverage: { provider: "v8", include: ["{packages,apps}/*/src/**/*.ts"] },
    reporters: ["default", "./tools/closing-line.ts"],
  },
});
