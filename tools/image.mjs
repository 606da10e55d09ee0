// Builds the image of the service, runs it with the least privileges, and uses sessions and an app of it: npm run image:test
// Options: --no-build, and after `--` options of the build, such as --build-arg.
// SHOAL_CONTAINER_ENGINE is podman or docker, by default the first of them that is installed.
import { execFile, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const run = promisify(execFile);
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const image = "localhost/shoal:latest";
/** Bytes without compression. Most of it is Debian's two Chromiums, ffmpeg and fonts. */
const sizeBudget = 1_900_000_000;
const minute = 60_000;

const { positionals, values } = parseArgs({
  options: { "no-build": { type: "boolean", default: false } },
  allowPositionals: true,
});
const engine =
  process.env.SHOAL_CONTAINER_ENGINE ??
  ["podman", "docker"].find((name) => spawnSync(name, ["--version"]).status === 0) ??
  fail("Neither podman nor docker is installed. On Debian: apt install podman");

/** As in compose.yaml. */
const privileges = [
  ...["--cap-drop=ALL", "--read-only", "--tmpfs=/tmp", "--security-opt=no-new-privileges"],
  `--security-opt=seccomp=${join(root, "docs/service/seccomp.json")}`,
  ...(engine === "podman"
    ? ["--security-opt=unmask=ALL"]
    : ["--security-opt=apparmor=unconfined", "--security-opt=systempaths=unconfined"]),
];

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** The output of a command of the engine. */
async function ask(...args) {
  const { stdout, stderr } = await run(engine, args, { maxBuffer: 2 ** 26, timeout: 5 * minute });
  return args[0] === "logs" ? stdout + stderr : stdout.trim();
}

async function until(what, attempt) {
  const deadline = performance.now() + 2 * minute;
  for (;;) {
    const found = await attempt().catch(() => undefined);
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`Waited two minutes for ${what}.`);
    await sleep(200);
  }
}

function check(condition, what) {
  if (!condition) throw new Error(`Not so: ${what}`);
  console.log(`✓ ${what}`);
}

function build() {
  const format = engine === "podman" ? ["--format=docker"] : [];
  const { status } = spawnSync(engine, ["build", ...format, `--tag=${image}`, ...positionals, "."], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}

async function checkContent() {
  const size = Number(await ask("image", "inspect", "--format={{.Size}}", image));
  check(size <= sizeBudget, `the image has ${Math.round(size / 1e6)} MB, at most ${sizeBudget / 1e6} MB`);
  const bom = JSON.parse(
    await ask("run", "--rm", "--network=none", "--entrypoint=cat", image, "/opt/shoal/sbom.cdx.json"),
  );
  const names = bom.components.map(({ name, group }) => (group ? `${group}/${name}` : name));
  check(names.includes("fastify") && !names.includes("@sparticuz/chromium"), `its SBOM lists ${names.length} packages`);
  const folder = "/usr/lib/chromium/locales";
  const locales = await ask("run", "--rm", "--network=none", "--entrypoint=ls", image, folder);
  check(locales.split("\n").includes("de-CH.pak"), "its Chromium has every locale");
}

async function checkRefusal() {
  const refused = await run(engine, ["run", "--rm", "--network=none", "--cap-drop=ALL", image], {
    timeout: minute,
  }).then(
    () => "",
    ({ stderr }) => stderr,
  );
  check(/Cannot create a sandbox/.test(refused), "without the options for sandboxes, it does not start and says why");
}

/** Sends commands of CDP one after another. */
async function openCdp(url) {
  const socket = new globalThis.WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error("The connection to CDP failed.")));
  });
  let last = 0;
  return {
    call(method, params = {}, sessionId) {
      const id = ++last;
      socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }));
      return new Promise((resolve, reject) => {
        socket.addEventListener("message", function onMessage({ data }) {
          const message = JSON.parse(data);
          if (message.id !== id) return;
          socket.removeEventListener("message", onMessage);
          if (message.error) reject(new Error(message.error.message));
          else resolve(message.result);
        });
      });
    },
    close: () => socket.close(),
  };
}

async function useSession(service, key) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  for (const body of [{}, { headless: false }]) {
    const created = await fetch(`${service}/browsers`, { method: "POST", headers, body: JSON.stringify(body) });
    const session = await created.json();
    if (!created.ok) throw new Error(JSON.stringify(session));
    const cdp = await openCdp(session.cdp_ws_url.replace(/^ws:\/\/[^/]+/, service.replace("http", "ws")));
    const { product } = await cdp.call("Browser.getVersion");
    const { targetId } = await cdp.call("Target.createTarget", { url: "data:text/html,<title>in the container" });
    const { sessionId } = await cdp.call("Target.attachToTarget", { targetId, flatten: true });
    const { result } = await cdp.call("Runtime.evaluate", { expression: "6 * 7" }, sessionId);
    cdp.close();
    check(
      result.value === 42 && session.placement === "sandbox",
      `a session ${body.headless === false ? "with a window" : "without a window"} answers over CDP: ${product}`,
    );
    const deleted = await fetch(`${service}/browsers/${session.session_id}`, { method: "DELETE", headers });
    check(deleted.ok, "the session ends");
  }
}

/** An app without a package of an index: the module has those parts of the vendor's package that a runner uses. */
const pythonApp = `mkdir -p /tmp/greeter/wheels && cd /tmp/greeter && touch requirements.txt wheels/none
cat > kernel.py <<'END'
class KernelContext:
    def __init__(self, invocation_id): self.invocation_id = invocation_id
class Action:
    def __init__(self, name, handler): self.name, self.handler = name, handler
class Registry:
    apps = {}
    def get_apps(self): return list(self.apps.values())
app_registry = Registry()
class App:
    def __init__(self, name):
        self.name, self.actions = name, []
        app_registry.apps[name] = self
    def get_actions(self): return self.actions
    def action(self, name):
        return lambda handler: self.actions.append(Action(name, handler))
END
cat > main.py <<'END'
import kernel
@kernel.App("greeter").action("greet")
def greet(context, payload):
    return {"text": "Hello, " + payload["name"]}
END
shoal deploy main.py`;

/** @param name - of the container. */
async function useApp(name) {
  await ask("exec", name, "python3", "-m", "pip", "--version");
  await ask("exec", name, "sh", "-c", pythonApp);
  const output = await ask("exec", name, "shoal", "invoke", "greeter", "greet", "-p", '{"name":"Ada"}');
  check(output.includes("Hello, Ada"), "a Python app is deployed and invoked");
}

async function checkService() {
  const name = `shoal-image-test-${process.pid}`;
  const network = (process.env.SHOAL_IMAGE_NETWORK ?? "publish") === "host";
  const port = network ? ["--network=host", "--env=SHOAL_PORT=7790"] : ["--publish=127.0.0.1::7777"];
  await ask("run", "--detach", `--name=${name}`, ...port, ...privileges, "--memory=4g", "--stop-timeout=120", image);
  try {
    const published = network ? "127.0.0.1:7790" : await ask("port", name, "7777");
    const service = `http://${published.split("\n")[0]}`;
    await until("the service", async () => (await fetch(`${service}/ready`)).ok);
    check((await ask("exec", name, "id", "-un")) === "node", "the service runs as the user node");
    const doctor = await ask("exec", name, "shoal", "doctor");
    console.log(doctor.replaceAll(/^/gm, "  "));
    check(
      /^✓ isolation/m.test(doctor) && /^✓ inner_sandbox/m.test(doctor),
      "shoal doctor finds sandboxes, and Chromium's own",
    );
    if (!network) {
      const health =
        engine === "podman"
          ? ask("healthcheck", "run", name).then(() => "healthy")
          : until(
              "health",
              async () =>
                (await ask("inspect", "--format={{.State.Health.Status}}", name)).replace("starting", "") || undefined,
            );
      check((await health) === "healthy", "the health check passes");
    }
    const { api_key: key } = JSON.parse(await ask("exec", name, "cat", "/var/lib/shoal/admin-key.json"));
    await useSession(service, key);
    await useApp(name);
    const began = performance.now();
    await ask("stop", name);
    const code = await ask("inspect", "--format={{.State.ExitCode}}", name);
    check(code === "0", `it stops with exit code 0, after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.error(await ask("logs", "--tail=40", name).catch(String));
    throw error;
  } finally {
    await ask("rm", "--force", "--volumes", name);
  }
}

const placementTest = (name) => `packages/placement/src/${name}`;

/** Sessions and apps in containers of the image: the placement `docker`. */
async function checkPlacement() {
  if (!existsSync(join(root, "node_modules")) || process.getuid?.() !== 0) {
    console.log("- skipped: the tests of the placement docker need root and an installed workspace");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "shoal-engine-"));
  const socket = `unix://${join(folder, "engine.sock")}`;
  const service =
    engine === "podman" && spawn("podman", ["system", "service", "--time=0", socket], { stdio: "ignore" });
  try {
    if (service) await until("the socket of Podman", async () => existsSync(join(folder, "engine.sock")));
    const built = spawnSync("pnpm", ["exec", "turbo", "run", "build", "--output-logs=errors-only"], {
      cwd: root,
      stdio: "inherit",
    });
    check(built.status === 0, "the workspace is built");
    const host = service ? socket : (process.env.DOCKER_HOST ?? "unix:///var/run/docker.sock");
    const { status } = spawnSync(
      "pnpm",
      ["exec", "vitest", "run", ...["create", "browser-in", "container-limits", "start-program"].map(placementTest)],
      {
        cwd: root,
        stdio: "inherit",
        env: { ...process.env, SHOAL_TEST_DOCKER_HOST: host, SHOAL_TEST_DOCKER_IMAGE: image },
      },
    );
    check(status === 0, "the tests of the placement docker pass");
  } finally {
    if (service) service.kill();
    rmSync(folder, { recursive: true });
  }
}

if (!values["no-build"]) build();
try {
  await checkContent();
  await checkRefusal();
  await checkService();
  await checkPlacement();
} catch (error) {
  fail(error.message);
}
