import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join, sep } from "node:path";
import { afterAll, afterEach, expect } from "vitest";

/**
 * Files of the fast suite share processes and the modules in them, so hooks at the top of a helper would belong only to the
 * first file that imports it. `src/testing/each-file.ts` of a package exports its hooks instead.
 */
interface EachFile {
  readonly afterTest?: () => unknown;
  readonly afterFile?: () => unknown;
}

// Each slow file has its own process.
enableCompileCache(join(import.meta.dirname, "node_modules/.cache/compiled-tests"));

const { testPath = "" } = expect.getState();
const hooks = `${testPath.slice(0, testPath.lastIndexOf(`${sep}src${sep}`))}/src/testing/each-file.ts`;
if (existsSync(hooks)) {
  const { afterTest, afterFile } = (await import(hooks)) as EachFile;
  if (afterTest) afterEach(() => afterTest());
  if (afterFile) afterAll(() => afterFile());
}
