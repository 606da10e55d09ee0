// Renders the Helm chart, and writes docs/service/kubernetes.yaml from it: node tools/chart.mjs
// It also copies the filter of system calls into the chart, because charts contain no files from outside.
// `node tools/chart.mjs --print RELEASE NAMESPACE < values.json` prints all objects, as `helm template` does.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseAllDocuments, stringify } from "yaml";
import { writeOrCheck } from "./generated-file.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const chartFolder = join(here, "../charts/shoal");
const libraries = "/usr/share/gocode";

/**
 * Why the chart cannot be rendered here, if so.
 * @returns {string | undefined}
 */
export function missingForRendering() {
  try {
    execFileSync("go", ["list", "-f", "{{.Dir}}", "github.com/Masterminds/sprig", "sigs.k8s.io/yaml"], {
      env: goEnvironment(),
      stdio: "ignore",
    });
    return undefined;
  } catch {
    return "apt install golang-go golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev";
  }
}

function goEnvironment() {
  return { ...process.env, GOPATH: libraries, GO111MODULE: "off", CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false" };
}

/**
 * @typedef {object} Rendered
 * @property {Readonly<Record<string, unknown>>} values - merged with the defaults.
 * @property {Readonly<Record<string, string>>} [files] - by path of their template.
 * @property {string} [error] - of the first template that fails.
 */

/**
 * Renders the chart once for each job.
 * @param {readonly object[]} jobs - `values`, `release` and `namespace`, all optional.
 * @returns {readonly Rendered[]}
 */
export function renderChart(jobs) {
  const folder = mkdtempSync(join(tmpdir(), "shoal-chart-"));
  try {
    const program = join(folder, "render");
    // Go compiles its libraries on the first use: without optimizations, this takes a quarter less time.
    const fast = ["-gcflags=all=-N -l", "-ldflags=-s -w"];
    execFileSync("go", ["build", ...fast, "-o", program, join(here, "chart/render.go")], { env: goEnvironment() });
    const input = JSON.stringify({
      chart: chartFolder,
      jobs: jobs.map((job) => ({ release: "shoal", namespace: "browsers", values: {}, ...job })),
    });
    return JSON.parse(execFileSync(program, { input, encoding: "utf8", maxBuffer: 2 ** 26 }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {Rendered} rendered @throws the error of a template. */
function manifestTexts({ error, files = {} }) {
  if (error !== undefined) throw new Error(error);
  return Object.entries(files)
    .filter(([path]) => path.endsWith(".yaml") && !path.startsWith("templates/tests/"))
    .map(([, content]) => content);
}

/**
 * The objects of a rendered chart, in the order of its files, without notes and tests.
 * @param {Rendered} rendered
 * @throws the error of a template.
 */
export function objectsOf(rendered) {
  return manifestTexts(rendered)
    .flatMap((content) => parseAllDocuments(content, { version: "1.1" }))
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS();
    })
    .filter((object) => object !== null);
}

/** The filter of system calls, without white space. */
export function seccompProfile() {
  return `${JSON.stringify(JSON.parse(readFileSync(join(here, "../docs/service/seccomp.json"), "utf8")))}\n`;
}

const header = (
  name,
) => `# For servers with placement: kubernetes that run outside of the Helm chart, from which this file is made:
# kubectl apply --namespace browsers --filename ${name}
# Servers run in pods of the same namespace with the label shoal.dev/part: server and the service account shoal.
`;
const claimsHeader = `# With kubernetes_warm_pool: shoal-sessions, sessions are claims of agent-sandbox. Set image to the one of your servers.
`;

/** The values of each file of docs/service that the chart makes. */
export const manifestFiles = {
  "kubernetes.yaml": { placement: "kubernetes" },
  "kubernetes-claims.yaml": {
    placement: "kubernetes",
    kubernetes: { image: "registry.example/shoal:1", claims: { enabled: true } },
  },
};

/** The service account of servers, its rights for pods of sessions, and the policy and the template of these pods. */
export function manifestsOf(objects, name) {
  const hasClaims = objects.some(({ kind }) => kind === "SandboxTemplate");
  const wanted = objects.filter(
    ({ kind, metadata }) =>
      ["ServiceAccount", "Role", "RoleBinding"].includes(kind) || metadata.name === "shoal-sessions",
  );
  for (const object of wanted) {
    object.metadata = { name: object.metadata.name };
    delete object.automountServiceAccountToken;
    for (const subject of object.subjects ?? []) delete subject.namespace;
    for (const { from } of object.spec?.ingress ?? []) for (const peer of from) delete peer.namespaceSelector;
  }
  return header(name) + (hasClaims ? claimsHeader : "") + wanted.map((object) => stringify(object)).join("---\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === "--print") {
    const [release, namespace] = process.argv.slice(3);
    const values = JSON.parse((await text(process.stdin)) || "{}");
    const [rendered] = renderChart([{ release, namespace, values }]);
    process.stdout.write(manifestTexts(rendered).join("\n---\n"));
  } else {
    writeOrCheck("charts/shoal/files/seccomp.json", seccompProfile(), { source: "the profile", tool: "chart.mjs" });
    const rendered = renderChart(Object.values(manifestFiles).map((values) => ({ values })));
    for (const [at, name] of Object.keys(manifestFiles).entries())
      writeOrCheck(`docs/service/${name}`, manifestsOf(objectsOf(rendered[at]), name), {
        source: "the chart",
        tool: "chart.mjs",
      });
  }
}
