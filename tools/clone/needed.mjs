// What each kind of command needs of the lockfile. Runs on Node 18.

/**
 * `demo`: the service with its defaults and the command; `service`: all of the service, the console, the documentation
 * and the SDK's types;
 * `all`: tests and checks as well.
 * @typedef {"demo" | "service" | "all"} Need
 */

/** Packages for tests and checks. */
const forOthers = ["apps/bench", "apps/e2e", "apps/example-extension"];

/** The pages of the service. The demo shows none. */
const forPages = ["apps/console", "apps/docs"];

/**
 * Development dependencies of the service's packages that only tests import. Types are erased, and need no entry; those of Node are
 * in the SDK's types.
 */
export const forTests = [
  "@1password/connect",
  "@20minutes/s3rver",
  "@anthropic-ai/sdk",
  "@modelcontextprotocol/client",
  "@opentelemetry/context-async-hooks",
  "@opentelemetry/core",
  "@opentelemetry/sdk-trace-base",
  "@prometheus-io/lezer-promql",
  "ai",
  "devtools-protocol",
  "fast-check",
  "fauxqs",
  "gpt-tokenizer",
  "oidc-provider",
  "openai",
  "proxy-chain",
  "puppeteer-core",
];

/** Parts that a service with its defaults does not load: each is imported when a setting requires it. */
export const forSettings = [
  "@1password/sdk",
  "@aws-sdk/client-s3",
  "@aws-sdk/client-sts",
  "@aws-sdk/lib-storage",
  "@kubernetes/client-node",
  "@napi-rs/keyring",
  "typescript-7",
];

/** @param {Need} need @param {string} folder - of a package, such as `apps/cli` */
export const needsFolder = (need, folder) =>
  need === "all" || !(forOthers.includes(folder) || (need === "demo" && forPages.includes(folder)));

/** @param {Need} need @param {string} group - of package.json @param {string} name - of a dependency */
function needsDependency(need, group, name) {
  const isForTypes = name.startsWith("@types/") && (need === "demo" || name !== "@types/node");
  if (group === "devDependencies" && (forTests.includes(name) || isForTypes)) return false;
  return need !== "demo" || !forSettings.includes(name);
}

/** @param {string} text of YAML @param {number} indent - of its entries @returns {readonly string[]} the key line, then each entry */
const entriesOf = (text, indent) => text.split(new RegExp(`\\n(?= {${indent}}\\S)`));
const keyOf = (entry) => /^ *'?([^\s':]+)/.exec(entry)?.[1] ?? "";

/**
 * Returns the lockfile with what a command needs alone, for a folder two levels below the clone. The root's tools are omitted.
 * @param {string} lockfile - the text of `pnpm-lock.yaml` @param {Exclude<Need, "all">} need
 */
export function lockfileFor(lockfile, need) {
  const begin = lockfile.indexOf("\nimporters:\n");
  const end = lockfile.indexOf("\npackages:\n");
  const [key, ...importers] = entriesOf(lockfile.slice(begin, end).trimEnd(), 2);
  const kept = importers
    .filter((importer) => keyOf(importer) !== "." && needsFolder(need, keyOf(importer)))
    .map((importer) => {
      const [, ...groups] = entriesOf(importer, 4);
      const chosen = groups.flatMap((group) => {
        const [name, ...dependencies] = entriesOf(group, 6);
        const needed = dependencies.filter((entry) => needsDependency(need, keyOf(name), keyOf(entry)));
        return needed.length > 0 ? [name, ...needed] : [];
      });
      return [`  ../../${keyOf(importer)}:${chosen.length > 0 ? "" : " {}"}`, ...chosen].join("\n");
    });
  return [lockfile.slice(0, begin), key.trimEnd(), "  ../..: {}", ...kept, lockfile.slice(end)].join("\n");
}
