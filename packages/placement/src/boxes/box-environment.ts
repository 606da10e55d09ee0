import { homePath } from "./instance-files.ts";

export const boxEnvironment = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: homePath,
  USER: "shoal",
  LOGNAME: "shoal",
  SHELL: "/bin/sh",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
} as const;
