import { describe, expect, it } from "vitest";
import { refusalOf } from "../testing/refusal.ts";
import { renameEntry, zipOf } from "../testing/zip.ts";
import { appName, deployApp } from "./apps.ts";
import type { ServiceUnderTest } from "./open-service.ts";

/** Yields refused calls by problem, and cleans up after them. */
type Refused = (
  test: ServiceUnderTest,
  name: (prefix: string) => string,
) => AsyncGenerator<readonly [what: string, call: Promise<unknown>]>;

const sessions: Refused = async function* ({ shoal }, name) {
  const { browsers, profiles } = shoal;
  const [profileName, sessionName] = [name("kept"), name("session")];
  const profile = await profiles.create({ name: profileName });
  const writer = await browsers.create({ name: sessionName, profile: { name: profileName, save_changes: true } });
  const other = await browsers.create({});
  yield ["a second writer", browsers.create({ profile: { id: profile.id, save_changes: true } })];
  yield [
    "a second writer later on",
    browsers.update(other.session_id, { profile: { id: profile.id, save_changes: true } }),
  ];
  yield ["a second profile", browsers.update(writer.session_id, { profile: { id: profile.id } })];
  yield ["a profile that is not there", browsers.create({ profile: { name: "nobody" } })];
  yield ["a name as a profile's id", browsers.create({ profile: { id: profileName } })];
  yield ["an id as a profile's name", browsers.create({ profile: { name: profile.id } })];
  yield ["to delete a profile in use", profiles.delete(profileName)];
  yield ["a name that is taken", browsers.create({ name: sessionName })];
  yield ["a name that is taken, later on", browsers.update(other.session_id, { name: sessionName })];
  for (const viewport of [
    { width: 16_385, height: 10 },
    { width: 10, height: 16_385 },
    { width: 20_000, height: 20_000 },
  ]) {
    yield [`a viewport of ${JSON.stringify(viewport)}`, browsers.create({ viewport })];
    yield [`a viewport of ${JSON.stringify(viewport)}, later on`, browsers.update(other.session_id, { viewport })];
  }
  yield ["a GPU", browsers.create({ gpu: true })];
  yield ["another region", browsers.create({ region: "us-east" })];
  yield ["a NUL in the address", browsers.create({ start_url: "https://example.com/\0" })];
  for (const start_url of ["javascript:alert(1)", "https://", "https://example.com/\0"])
    yield [`the page ${JSON.stringify(start_url)}, later on`, browsers.update(other.session_id, { start_url })];
  yield ["a window's memory without a window", browsers.create({ memory: "8GiB" })];
  yield ["too little memory for a window", browsers.create({ headless: false, memory: "2GiB" })];
  yield ["an unknown time zone", browsers.create({ location: { timezone: "Europe/Atlantis" } })];
  yield ["an unknown locale", browsers.create({ location: { locale: "de-XX" } })];
  yield ["the time zone of no proxy", browsers.create({ location: { timezone: "exit" } })];
  for (const origin of [
    "http://a.example",
    "https://a.example/",
    "https://a.example:443",
    "https://a.example:99999",
    "*",
  ])
    yield [
      `permissions of ${origin}`,
      browsers.create({ conditions: { permissions: [{ name: "notifications", origin }] } }),
    ];
  yield [
    "a position beyond the pole",
    browsers.create({ conditions: { geolocation: { latitude: 91, longitude: 0 } } }),
  ];
  yield ["memory that no session has", browsers.create({ memory: "6GiB" })];
  await browsers.delete(other.session_id);
  yield ["a session that has ended", browsers.get(other.session_id)];
  yield ["to delete an ended session", browsers.delete(other.session_id)];
  yield ["to extend an ended session", browsers.extend(other.session_id)];
  yield ["files of a session that has ended", browsers.fs.listFiles(other.session_id, { path: "/" })];
  yield ["files of no session", browsers.fs.listFiles("nosuchsession00000000000", { path: "/" })];
  await browsers.delete(writer.session_id);
  await profiles.delete(profile.id);
};

const profiles: Refused = async function* ({ shoal }, name) {
  const [first, second] = [name("profile"), name("profile")];
  for (const each of [first, second]) await shoal.profiles.create({ name: each });
  yield ["a name that is taken", shoal.profiles.create({ name: first })];
  yield ["another's name", shoal.profiles.update(first, { name: second })];
  for (const each of [first, second]) await shoal.profiles.delete(each);
  yield ["to get a missing profile", shoal.profiles.get(first)];
  yield ["to rename a missing profile", shoal.profiles.update(first, { name: second })];
  yield ["to delete a missing profile", shoal.profiles.delete(first)];
};

const projectsAndKeys: Refused = async function* ({ clientWith, shoal }, name) {
  const { apiKeys, projects } = shoal;
  const projectName = name("project");
  const { id } = await projects.create({ name: projectName });
  const ofProject = await apiKeys.create({ name: "own", project_id: id });
  const own = clientWith({ apiKey: ofProject.key });
  yield ["a project's name that is taken", projects.create({ name: projectName })];
  yield ["a key that makes projects", own.projects.create({ name: name("project") })];
  yield ["a key that archives its project", own.projects.update(id, { status: "archived" })];
  yield ["a key that deletes its project", own.projects.delete(id)];
  yield ["a key that raises its limits", own.projects.limits.update(id, { max_concurrent_sessions: 9 })];
  yield ["a key for another project", own.apiKeys.create({ name: "more", project_id: "elsewhere" })];
  yield ["a key in another project", clientWith({ apiKey: ofProject.key, project: "default" }).profiles.list()];
  // oxlint-disable-next-line typescript/no-deprecated -- deprecated, but still supported
  yield ["a limit of pools", projects.limits.update(id, { max_pooled_sessions: 1 })];
  await projects.limits.update(id, { max_concurrent_sessions: 1 });
  const session = await own.browsers.create({});
  const profile = await own.profiles.create({});
  yield ["a session too many", own.browsers.create({}, { maxRetries: 0 })];
  yield ["to delete a project that is used", projects.delete(id)];
  await own.browsers.delete(session.session_id);
  yield ["to delete a project with profiles", projects.delete(id)];
  await own.profiles.delete(profile.id);

  yield ["a key for no project", apiKeys.create({ name: "more", project_id: "nowhere" })];
  yield ["a key for a project by its name", apiKeys.create({ name: "more", project_id: projectName })];
  yield ["a key that deletes itself", own.apiKeys.delete(ofProject.id)];
  yield ["a key that is not there", apiKeys.get("nowhere")];
  await projects.update(id, { status: "archived" });
  yield ["a key for an archived project", apiKeys.create({ name: "more", project_id: id })];
  yield ["a key of an archived project", own.profiles.list()];
  yield ["an archived project", clientWith({ project: projectName }).profiles.list()];
  yield ["no project", clientWith({ project: "nowhere" }).profiles.list()];
  await projects.update(id, { status: "active" });
  await projects.delete(id);
  yield ["a project that is not there", projects.get(projectName)];
};

const [directory, file] = ["/home/shoal/d", "/home/shoal/f"] as const;

const files: Refused = async function* ({ shoal }) {
  const { session_id: id } = await shoal.browsers.create({});
  const { fs } = shoal.browsers;
  await fs.createDirectory(id, { path: directory });
  await fs.writeFile(id, "text", { path: file });
  const reading = new Set(["read", "list", "look at", "zip", "watch"]);
  const onPaths: readonly [string, (path: string) => Promise<unknown>][] = [
    ["read", (path) => fs.readText(id, { path })],
    ["list", (path) => fs.listFiles(id, { path })],
    ["look at", (path) => fs.fileInfo(id, { path })],
    ["delete", (path) => fs.deleteFile(id, { path })],
    ["delete the directory", (path) => fs.deleteDirectory(id, { path })],
    ["write to", (path) => fs.writeFile(id, "text", { path })],
    ["make", (path) => fs.createDirectory(id, { path })],
    ["zip", (path) => fs.downloadDirZip(id, { path })],
    ["watch", (path) => fs.watch.start(id, { path })],
    ["move over", (path) => fs.move(id, { src_path: directory, dest_path: path })],
    ["move", (path) => fs.move(id, { src_path: path, dest_path: `${directory}/there` })],
    ["change the mode of", (path) => fs.setFilePermissions(id, { path, mode: "700" })],
  ];
  for (const [what, call] of onPaths) {
    for (const path of [
      "relative",
      "/home/shoal/missing/below",
      `${file}/below`,
      "/",
      "/home/shoal",
      directory,
      file,
    ]) {
      const [outcome] = await Promise.allSettled([call(path)]);
      if (outcome.status === "rejected") {
        yield [`to ${what} ${path}`, Promise.reject(outcome.reason as Error)];
        continue;
      }
      if (reading.has(what)) continue;
      // Restore the original.
      await fs
        .deleteFile(id, { path: "/home/shoal/missing" })
        .catch(() => fs.deleteDirectory(id, { path: "/home/shoal/missing" }, { missing_ok: true }));
      await fs.deleteDirectory(id, { path: directory }, { missing_ok: true });
      await fs.createDirectory(id, { path: directory });
      await fs.deleteFile(id, { path: file }).catch(() => undefined);
      await fs.writeFile(id, "text", { path: file });
    }
  }
  for (const entry of ["../up", "/path", "..\\up"]) {
    const archive = renameEntry(await zipOf([{ name: "entry", content: "" }]), "entry", entry);
    yield [`an archive with ${entry}`, fs.uploadZip(id, { dest_path: directory, zip_file: archive })];
  }
  yield ["a mode of letters", fs.setFilePermissions(id, { path: file, mode: "rwx" })];
  yield ["to stop a watch that is not there", fs.watch.stop(id, "nowhere")];
  await shoal.browsers.delete(id);
};

const apps: Refused = async function* ({ clientWith, shoal }, name) {
  const { apiKeys, projects } = shoal;
  const { id: project } = await projects.create({ name: name("project") });
  const { key } = await apiKeys.create({ name: "apps", project_id: project });
  const own = clientWith({ apiKey: key });
  const { browsers, deployments, invocations, schedules } = own;
  const [file, entrypoint_rel_path, missing] = [new Blob([await zipOf([])]), "index.js", "nosuchid0000000000000000"];
  const source = { type: "github", url: "https://github.com/a/b", ref: "main", entrypoint: "a.ts" } as const;
  yield ["a deployment of nothing", deployments.create({})];
  yield ["two sources", deployments.create({ file, entrypoint_rel_path, source })];
  yield ["no entry", deployments.create({ file })];
  yield ["an entry outside", deployments.create({ file, entrypoint_rel_path: "a/../../b" })];
  yield ["an absolute entry", deployments.create({ file, entrypoint_rel_path: "/etc/passwd" })];
  yield [
    "a page of a repository",
    deployments.create({ source: { ...source, url: "https://github.com/a/b/tree/main" } }),
  ];
  yield ["a folder outside", deployments.create({ source: { ...source, path: "../a" } })];
  yield ["a branch with half a pair", deployments.create({ source: { ...source, ref: "a\ud800" } })];
  yield ["a variable with a space", deployments.create({ file, entrypoint_rel_path, env_vars: { "A B": "1" } })];

  const { id: first } = await deployments.wait((await deployApp(own)).id);
  const failed = await deployments.wait((await deployApp(own, "v1", { entry: "none.js" })).id);
  yield ["to return to the running deployment", deployments.rollback(first)];
  yield ["to return to a failed deployment", deployments.rollback(failed.id)];
  yield ["to return to a missing deployment", deployments.rollback(missing)];
  yield ["to get a missing deployment", deployments.get(missing)];
  yield ["to delete a missing deployment", deployments.delete(missing)];
  yield ["another project's deployment", shoal.deployments.get(first)];
  yield ["a version without its app", deployments.list({ app_version: "v1" })];

  const call = { app_name: appName, action_name: "echo" };
  yield ["an app that is not there", invocations.create({ ...call, app_name: "none" })];
  yield ["a version that is not there", invocations.create({ ...call, version: "v2" })];
  yield ["an action that is not there", invocations.create({ ...call, action_name: "none" })];
  yield ["a payload that is not JSON", invocations.create({ ...call, payload: "{" })];
  yield ["a queue without async", invocations.create({ ...call, queue: true })];
  yield ["retries without async", invocations.create({ ...call, max_retries: 1 })];
  yield ["a timeout too short", invocations.create({ ...call, async: true, async_timeout_seconds: 9 })];
  yield ["to get a missing invocation", invocations.get(missing)];
  yield ["to cancel a missing invocation", invocations.update(missing, { status: "failed" })];
  yield ["the browsers of a missing invocation", invocations.listBrowsers(missing)];
  yield ["to end the browsers of a missing invocation", invocations.deleteBrowsers(missing)];
  yield ["a browser of a missing invocation", browsers.create({ invocation_id: missing })];
  const { id: ended } = await invocations.create({ ...call, payload: "1" });
  yield ["a browser of an ended invocation", browsers.create({ invocation_id: ended })];
  await projects.limits.update(project, { max_concurrent_invocations: 1 });
  const { id: running } = await invocations.create({ ...call, action_name: "wait", async: true });
  yield ["an invocation too many", invocations.create(call, { maxRetries: 0 })];
  await invocations.update(running, { status: "failed" });

  const daily = { ...call, cron: "0 9 * * *" };
  yield ["a schedule of a missing app", schedules.create({ ...daily, app_name: "none" })];
  yield ["a schedule of a missing action", schedules.create({ ...daily, action_name: "none" })];
  yield ["a schedule of words", schedules.create({ ...daily, cron: "daily" })];
  yield ["a schedule on the moon", schedules.create({ ...daily, time_zone: "Moon" })];
  yield ["to pause a missing schedule", schedules.pause(missing)];
  yield ["to delete a missing schedule", schedules.delete(missing)];
  // The code of the app declares one.
  for (let hour = 0; hour < 19; hour += 1) await schedules.create(daily);
  yield ["a schedule too many", schedules.create(daily)];
  yield ["to delete a project with deployments", projects.delete(project)];
};

/** Replaces ids and times, which differ between runs. */
function common(text: string): string {
  return text.replace(/\b[a-z][a-z0-9]{23}\b/g, "ID").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
}

async function refusalsOf(refused: Refused, test: ServiceUnderTest): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  let names = 0;
  for await (const [what, call] of refused(test, (prefix) => `same-${prefix}-${String(names++)}`)) {
    const { code, message, status } = await refusalOf(call).catch((error: unknown) => {
      throw new Error(what, { cause: error });
    });
    // The sandbox does not distinguish a file from a path through a file here.
    found[what] = `${status} ${code} ${what === `to watch ${file}/below` ? "" : common(message)}`;
  }
  return found;
}

const areas: readonly (readonly [area: string, refused: Refused])[] = [
  ["sessions", sessions],
  ["profiles", profiles],
  ["projects-and-keys", projectsAndKeys],
  ["files", files],
  ["apps", apps],
];

/** Compares the refusals with the stored ones, which are the same in each placement. */
export function describeRefusals(test: ServiceUnderTest): void {
  describe("refusals", () => {
    it.each(areas)("of %s have the stored texts", async (area, refused) => {
      const found = await refusalsOf(refused, test);
      await expect(`${JSON.stringify(found, undefined, 2)}\n`).toMatchFileSnapshot(`refusals/${area}.json`);
    });
  });
}
