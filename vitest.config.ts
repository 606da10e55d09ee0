import { defineConfig } from "vitest/config";
import { testLimitMs } from "./packages/testkit/src/limits.ts";
import { maxWorkers } from "./vitest.project.ts";

export default defineConfig({
  test: {
    projects: [
      "packages/*",
      "apps/*",
      {
        test: {
          name: "tools",
          include: ["tools/*.test.ts"],
          testTimeout: testLimitMs,
          hookTimeout: testLimitMs,
          maxWorkers,
        },
      },
    ],
    maxWorkers,
    coverage: { provider: "v8", include: ["{packages,apps}/*/src/**/*.ts"] },
    reporters: ["default", "./tools/closing-line.ts"],
  },
});
