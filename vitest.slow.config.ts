import { defineConfig } from "vitest/config";

/** Tests that take long by nature: gigabytes, tens of thousands of files, hundreds of sessions. `npm run test:slow`. */
export default defineConfig({
  ssr: { resolve: { conditions: ["@shoal/source"] } },
  test: {
    name: "slow",
    include: ["{packages,apps}/*/src/**/*.slow.ts"],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: ["default", "./tools/closing-line.ts"],
  },
});
