// Runs a script of package.json on any machine with Node 18 or newer and npm: fetches missing Node 24 and pnpm from the
// npm registry, installs the lockfile, then runs the script. Only the script's output goes to stdout.
import { install, isInstalled, root } from "./clone/packages.mjs";
import { runToEnd } from "./clone/run-to-end.mjs";
import { nodeProgram, scriptEnvironment } from "./clone/toolchain.mjs";

const env = await scriptEnvironment(await nodeProgram());
if (!isInstalled("all")) {
  console.error("Installing the packages of the lockfile …");
  const status = await install(env, "all");
  if (status !== 0) process.exit(status);
}
process.exitCode = await runToEnd("pnpm", ["--silent", "run", ...process.argv.slice(2)], { cwd: root, env });
