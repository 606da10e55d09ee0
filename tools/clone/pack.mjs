// npm run pack -- DIR [NAME…]: builds packages like those of the registry, for projects next to the clone. With names (client,
// testing, …), these packages and their dependencies, with their types as the registry has them. Without names, the command and the
// service, as the clone runs them. Runs on Node 18.
import { join } from "node:path";
import { install, isInstalled, root } from "./packages.mjs";
import { runToEnd } from "./run-to-end.mjs";
import { nodeProgram, scriptEnvironment } from "./toolchain.mjs";

const names = process.argv.slice(3);
const need = names.length === 0 ? "service" : "all";
const node = await nodeProgram();
const env = await scriptEnvironment(node);
/** Ends the process if the program fails. Only the last program's output goes to stdout. */
async function run(program, args, stdout) {
  const status = await runToEnd(program, args, { cwd: root, env, stdio: ["ignore", stdout, 2] });
  if (status !== 0) process.exit(status);
}

const pack = [join(root, "tools/pack.mjs"), ...process.argv.slice(2)];
// It refuses wrong arguments before anything is installed and built.
await run(node, [...pack, "--check"], 2);
if (!isInstalled(need)) {
  console.error("Installing the packages of the lockfile …");
  const status = await install(env, need);
  if (status !== 0) process.exit(status);
}
console.error("Building …");
if (names.length === 0) await run(node, ["--conditions=@shoal/source", join(root, "tools/build.mjs"), "--types"], 2);
else {
  const filters = names.map((name) => `--filter=@shoal/${name}`);
  await run("pnpm", ["exec", "turbo", "run", "build", "--output-logs=errors-only", "--log-prefix=none", ...filters], 2);
}
await run(node, pack, 1);
