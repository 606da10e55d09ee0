import { spawnSync } from "node:child_process";

/** Has the packages of `python-packages.txt`, if they are installed. */
export const python = process.env.SHOAL_TEST_PYTHON ?? "python3";

/** Why programs that import these modules cannot run here. In CI that has installed them, the programs run and fail. */
export function missingInPython(modules: string): string | undefined {
  if (process.env.SHOAL_REQUIRE_ALL === "1" && process.env.SHOAL_TEST_PYTHON !== undefined) return undefined;
  const env = { ...process.env, ANONYMIZED_TELEMETRY: "false" };
  return spawnSync(python, ["-c", `import ${modules}`], { env }).status === 0
    ? undefined
    : "no Python packages: pip install --requirement apps/e2e/python-packages.txt, or SHOAL_TEST_PYTHON";
}
