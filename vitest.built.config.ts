import { defineConfig } from "vitest/config";
import fast from "./vitest.config.ts";

/** Tests of the packages as they are published, which `npm run check` builds and runs. */
export default defineConfig({
  ...fast,
  test: {
    ...fast.test,
    include: ["{packages,apps}/*/src/**/*.built.test.ts", "tools/*.built.test.ts"],
    exclude: ["**/node_modules/**"],
  },
});
