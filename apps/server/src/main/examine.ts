import { examineDocker, examineHost, examineKubernetes, type PlacementKind, warmRoom } from "@shoal/placement";
import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { loadConfig } from "../config/config.ts";
import { restoringMarker } from "../config/data-dir.ts";
import type { Config } from "../config/settings.ts";
import { dockerOptions, kubernetesOptions } from "../config/placement-options.ts";
import { machineMemoryBytes } from "../config/settings/defaults.ts";
import { isLoopback } from "../http/listen.ts";
import { examineDatabase } from "./examine-database.ts";
import type { Finding } from "./finding.ts";

/** Checks this machine's requirements with the settings of the service. @throws {StartError} for invalid settings. */
export async function examine(sources: { readonly env: NodeJS.ProcessEnv }): Promise<readonly Finding[]> {
  const config = loadConfig({ env: sources.env });
  return [
    ...(await places(config)),
    ...machineProxy(config, sources.env),
    warmBrowsers(config),
    ...(await examineDatabase(config)),
    dataDirectory(config.data_dir),
  ];
}

function places(config: Config): Promise<readonly Finding[]> {
  const { placement } = config;
  if (placement === "docker") return containers(config);
  return placement === "kubernetes" ? pods(config) : thisHost(config, placement);
}

async function thisHost(config: Config, placement: "auto" | "process" | "sandbox"): Promise<readonly Finding[]> {
  const { chromium } = config;
  const host = await examineHost({ placement, ...(chromium !== undefined && { chromium }) });
  return [isolation(config, host.placement), ...host.findings];
}

/** As the start decides. @param possible - the best placement of this machine. */
export function isolation(
  { host, placement, unsafe_no_isolation }: Pick<Config, "host" | "placement" | "unsafe_no_isolation">,
  possible: PlacementKind,
): Finding {
  const name = "isolation";
  if (placement === "sandbox" && possible !== "sandbox")
    return {
      ...{ name, state: "missing" },
      detail: "The service does not start: sessions cannot run in the sandbox placement.",
      advice: "See bubblewrap, below.",
    };
  if ((placement === "auto" ? possible : placement) === "sandbox")
    return { name, state: "ok", detail: "Sessions run in the sandbox placement: each in a separate sandbox." };
  const advice =
    possible === "sandbox"
      ? "The setting placement requests it; remove it to use the sandbox."
      : "See bubblewrap, below.";
  if (!isLoopback(host) && !unsafe_no_isolation)
    return {
      ...{ name, state: "missing" },
      detail: `The service does not start: the process placement does not isolate sessions, and it would listen on ${host}.`,
      advice: `${advice} Or listen on 127.0.0.1.`,
    };
  return {
    ...{ name, state: "warning", advice },
    detail: "Sessions run in the process placement, which does not isolate.",
  };
}

async function containers(config: Config): Promise<readonly Finding[]> {
  const options = dockerOptions(config);
  const { image } = options;
  const report = await examineDocker(options);
  if (!report.works) return [cannotRun("docker", report.reason)];
  const detail = `Sessions run in the docker placement: each in a container of ${image} (${report.engines.join(", ")}), without a network.`;
  const place = "its container";
  const advice =
    "Allow user namespaces on the engine's machine, such as with sysctl -w user.max_user_namespaces=15000.";
  return [{ name: "isolation", state: "ok", detail }, ...abilitiesOf(image, report.image, { place, advice })];
}

const kubernetesObjects = {
  pods: "plain pods",
  sandboxes: "agent-sandbox",
  sandboxclaims: "claims of agent-sandbox",
} as const;

async function pods(config: Config): Promise<readonly Finding[]> {
  const options = kubernetesOptions(config);
  const report = await examineKubernetes(options);
  if (!report.works) return [cannotRun("kubernetes", report.reason)];
  const by = kubernetesObjects[report.objects];
  const detail = `Sessions run in the kubernetes placement: each in a pod of ${options.image}, in the namespace ${report.namespace} (${report.version}, ${by}), without a network.`;
  const place = "its pod";
  const advice = "Set kubernetes_runtime_class to a runtime that allows user namespaces to pods; most do not.";
  return [{ name: "isolation", state: "ok", detail }, ...abilitiesOf(options.image, report.image, { place, advice })];
}

function cannotRun(placement: string, advice: string): Finding {
  return { name: "isolation", state: "missing", detail: `Sessions cannot run in the ${placement} placement.`, advice };
}

function abilitiesOf(
  image: string,
  { innerSandbox, windows }: { readonly innerSandbox: boolean; readonly windows: boolean },
  { advice, place }: { readonly advice: string; readonly place: string },
): readonly Finding[] {
  return [
    innerSandbox
      ? { name: "inner_sandbox", state: "ok", detail: "Chromium keeps its own sandbox around each page." }
      : {
          name: "inner_sandbox",
          state: "warning",
          detail: `Chromium runs with --no-sandbox in ${place}.`,
          advice,
        },
    windows
      ? { name: "windows", state: "ok", detail: "Sessions may have a window (headless: false)." }
      : {
          name: "windows",
          state: "warning",
          detail: `Sessions with a window (headless: false) are refused: ${image} has no Xvfb.`,
          advice: "Use the image of Shoal's Dockerfile.",
        },
    {
      name: "sleep",
      state: "ok",
      detail: "Idle sessions cannot sleep (sleep_after_seconds): only sessions in a sandbox can be frozen.",
    },
  ];
}

/** Programs such as npm follow these variables; a service that did so would change the way of all sessions. */
export function machineProxy(
  { egress_proxy: own }: { readonly egress_proxy?: string | undefined },
  env: NodeJS.ProcessEnv,
): readonly Finding[] {
  const name = "proxy";
  if (own !== undefined)
    return [{ name, state: "ok", detail: "Sessions and builds reach the internet through egress_proxy." }];
  const names = ["HTTPS_PROXY", "https_proxy", "npm_config_https_proxy"];
  const variable = names.find((one) => env[one] !== undefined && env[one] !== "");
  if (variable === undefined) return [];
  return [
    {
      ...{ name, state: "warning" },
      detail: `Sessions and builds reach the internet directly, although ${variable} names a proxy.`,
      advice: `If this machine needs the proxy, start the service with --egress-proxy "$${variable}".`,
    },
  ];
}

function warmBrowsers(config: Config): Finding {
  const { docker_host: engines, placement, warm, warm_max: max } = config;
  const isElsewhere =
    placement === "kubernetes" || (placement === "docker" && engines.every((engine) => engine.startsWith("tcp:")));
  if (isElsewhere) {
    const count =
      warm === "auto"
        ? "1 browser waits for sessions (warm: auto)"
        : `${warm === 1 ? "1 browser waits" : `${String(warm)} browsers wait`} for sessions (warm)`;
    return { name: "warm", state: "ok", detail: `${count}, not in the memory of this machine.` };
  }
  const availableBytes = process.availableMemory();
  const room = warmRoom({ availableBytes, machineBytes: machineMemoryBytes(), ready: 0 });
  const wanted = warm === "auto" ? 1 : warm;
  const setting =
    warm === "auto"
      ? `1 to ${String(max)} browsers wait for sessions (warm: auto).`
      : `${String(warm)} browsers wait for sessions (warm).`;
  const memory = `${String(Math.round(availableBytes / 2 ** 20))} MiB are available, enough for ${String(room)}.`;
  return room >= wanted
    ? { name: "warm", state: "ok", detail: `${setting} ${memory}` }
    : {
        name: "warm",
        state: "warning",
        detail: `${setting} ${memory}`,
        advice: "Free memory, or lower SHOAL_WARM; sessions then start more slowly.",
      };
}

const lowOnDiskBytes = 2 ** 30;

function dataDirectory(path: string): Finding {
  const name = "data_dir";
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    if (!statSync(existing).isDirectory())
      return {
        ...{ name, state: "missing", detail: `${existing} is not a folder.` },
        advice: "Move it away, or choose another folder with SHOAL_DATA_DIR or --data-dir.",
      };
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch {
    return {
      name,
      state: "missing",
      detail: `${existing} is not writable for this user.`,
      advice: "Make it writable, or choose another folder with SHOAL_DATA_DIR or --data-dir.",
    };
  }
  if (existsSync(restoringMarker(path)))
    return {
      ...{ name, state: "missing", detail: `A restore into ${path} did not finish.` },
      advice: "Run `shoal-server restore` again; it starts over.",
    };
  const { bavail, bsize } = statfsSync(existing);
  const freeBytes = bavail * bsize;
  const free = `${(freeBytes / 2 ** 30).toFixed(1)} GiB are free.`;
  const detail = `${existing === path ? `${path} is writable.` : `${path} will be made at the first start.`} ${free}`;
  return freeBytes >= lowOnDiskBytes
    ? { name, state: "ok", detail }
    : {
        ...{ name, state: "warning", detail },
        advice: "Free disk space: changes are refused while the disk is full.",
      };
}
