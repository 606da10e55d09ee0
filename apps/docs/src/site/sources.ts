import { globSync, readFileSync } from "node:fs";
import { posix, sep } from "node:path";
import type { Group, Page } from "./page.ts";

/** A page of the sidebar: its file, its name there, and what it is about. */
interface Entry {
  readonly source: string;
  readonly title: string;
  readonly about: string;
}

const settings = "apps/server/README.md";
const operatorPages: readonly Entry[] = [
  {
    source: "docs/deploying.md",
    title: "Deploying",
    about: "systemd, containers, Kubernetes, load balancers, upgrade and rollback",
  },
  {
    source: "docs/operating.md",
    title: "Operating",
    about: "reverse proxies, rate limits, metrics, traces, overload, backup",
  },
  { source: settings, title: "Settings", about: "flags, variables, limits, content of the data folder" },
  { source: "docs/scaling.md", title: "Scaling", about: "costs per session, a model for machines and money" },
  {
    source: "docs/threat-model.md",
    title: "Threat model",
    about: "actors, trust boundaries, and the tests of each promise",
  },
  { source: "docs/versioning.md", title: "Versions", about: "which change needs which version" },
];
const referencePages: readonly Entry[] = [
  { source: "docs/operations.md", title: "Operations", about: "every operation with its request and its command" },
  { source: "docs/cli.md", title: "Commands", about: "every command of shoal with its flags" },
];

const guideIndex = "docs/guide/README.md";

/** Reads files of the repository by their path in it, with `/` on every system. */
export interface Repository {
  read(path: string): string;
  list(pattern: string): readonly string[];
}

export function repositoryIn(folder: string): Repository {
  return {
    read: (path) => readFileSync(posix.join(folder, path), "utf8"),
    list: (pattern) =>
      globSync(pattern, { cwd: folder })
        .map((path) => path.split(sep).join("/"))
        .sort(),
  };
}

/** The pages of the repository in the groups of the sidebar. @throws {Error} for a page of the guide without a group. */
export function readGroups(repository: Repository): Group[] {
  const guide = guideGroups(repository.read(guideIndex));
  const listed = new Set(guide.flatMap(({ entries }) => entries.map(({ source }) => source)));
  const unlisted = repository.list("docs/guide/*.md").filter((path) => path !== guideIndex && !listed.has(path));
  if (unlisted.length > 0) throw new Error(`${guideIndex} does not list ${unlisted.join(", ")}.`);
  const groups = [
    ...guide,
    { name: "Run the service", entries: operatorPages },
    { name: "Reference", entries: referencePages },
  ];
  return groups.map(({ name, entries }) => ({ name, pages: entries.map((entry) => pageOf(repository, entry)) }));
}

/** The index of the guide, which is not in the sidebar. */
export const guidePage = (repository: Repository): Page =>
  pageOf(repository, { source: guideIndex, title: "The guide", about: "tasks with programs that CI runs" });

function guideGroups(text: string): { name: string; entries: Entry[] }[] {
  const groups: { name: string; entries: Entry[] }[] = [];
  for (const line of text.split("\n")) {
    const name = /^## (.+)$/.exec(line)?.[1];
    if (name !== undefined) groups.push({ name, entries: [] });
    const [, title = "", path, about = ""] = /^- \[([^\]]+)\]\(([^)]+)\)(?::? (.*))?$/.exec(line) ?? [];
    if (path !== undefined)
      groups.at(-1)?.entries.push({
        source: posix.join("docs/guide", path),
        title: title.replaceAll("`", ""),
        about: about.replaceAll("`", ""),
      });
  }
  return groups;
}

function pageOf(repository: Repository, entry: Entry): Page {
  const { source } = entry;
  const path = source === settings ? "settings" : source.replace(/^docs\//, "").replace(/(?:README)?\.md$/, "");
  return { ...entry, path, markdown: repository.read(source), isReference: false };
}

/** The Markdown of the home page, which lists all pages. */
export const homeSource = (repository: Repository): Page =>
  pageOf(repository, { source: "docs/README.md", title: "", about: "" });
