import * as z from "zod/mini";
import { httpUrl, integer, optionalSetting, setting, text } from "./setting.ts";

const host = text.check(
  z.refine(
    (value) => /^(?:\*\.)?[\w.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/i.test(value),
    "must be a host such as registry.example or registry.example:4873",
  ),
);
const packageName = text.check(
  z.refine((value) => /^(?:@[\w.-]+\/)?[\w.-]+$/.test(value), "must be names of packages such as sharp or @scope/name"),
);

export const apps = {
  app_memory_mb: setting({
    schema: integer(64, 1_048_576),
    summary: "Memory in MiB of a running app in the sandbox, where the service may make control groups.",
    fallback: 1024,
  }),
  app_disk_mb: setting({
    schema: integer(1, 1_048_576),
    summary:
      "Room in MiB for the temporary files of a running app. They are in memory and count towards app_memory_mb.",
    fallback: 512,
  }),
  app_folders_mb: setting({
    schema: integer(0, 67_108_864),
    summary:
      "Disk space in MiB for unpacked builds of apps. Above it, builds without a running program are removed, least recently used first.",
    fallback: 8192,
  }),
  build_memory_mb: setting({
    schema: integer(256, 1_048_576),
    summary: "Memory in MiB of a build, its files included, where the service may make control groups.",
    fallback: 4096,
  }),
  build_disk_mb: setting({
    schema: integer(64, 1_048_576),
    summary:
      "Room in MiB for the sources and dependencies of a build. They are in memory and count towards build_memory_mb.",
    fallback: 3072,
  }),
  build_timeout_seconds: setting({
    schema: integer(10, 86_400),
    summary: "Seconds after which a build fails.",
    fallback: 600,
  }),
  build_registry: setting({
    schema: httpUrl,
    summary: "Registry that builds install npm packages from.",
    fallback: "https://registry.npmjs.org",
    default: "registry of npm's settings, or https://registry.npmjs.org",
  }),
  build_registry_token: optionalSetting({
    schema: text.check(z.refine((value) => /^[\x21-\x7e]+$/.test(value), "must not contain spaces or line breaks")),
    summary:
      "Token for that registry. The service adds it to the requests of builds for packages; builds do not get it.",
    default: "none",
    secret: true,
  }),
  build_registry_ca: optionalSetting({
    kind: "path",
    schema: text,
    summary: "PEM file with authorities that builds trust as well as the usual ones.",
    default: "cafile of npm's settings",
    env: ["NODE_EXTRA_CA_CERTS"],
  }),
  build_python_index: setting({
    schema: httpUrl,
    summary: "Index that builds install Python packages from.",
    fallback: "https://pypi.org/simple",
  }),
  build_allowed_hosts: setting({
    schema: z.array(host),
    summary: "Further hosts that builds may reach, each with an optional :port, also private ones.",
    fallback: [],
    default: "none",
  }),
  build_allow_scripts: setting({
    schema: z.array(packageName),
    summary: "npm packages whose install scripts may run in builds. Other scripts never run.",
    fallback: [],
    default: "none",
  }),
};
