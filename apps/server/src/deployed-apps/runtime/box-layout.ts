import type { ProgramPlace } from "@shoal/placement";

/** Paths in the boxes of apps and builds. */
export const layout = {
  /** Of apps; programs of others rely on these names. */
  node: "/boot-node",
  python: "/boot",
  programs: "/opt/shoal/app-runner",
  source: "/opt/shoal/source",
  archive: "/opt/shoal/archive",
  unpacked: "/opt/shoal/unpacked",
  tool: "/opt/shoal/tool",
  esbuild: "/opt/shoal/esbuild",
  authorities: "/opt/shoal/authorities.pem",
} as const;

/** Leads HTTP to the egress gateway. Other programs than Node read the variables in lower case. */
export function proxyVariables({ proxyUrl }: ProgramPlace): Readonly<Record<string, string>> {
  const direct = "127.0.0.1,localhost,::1";
  return {
    HTTP_PROXY: proxyUrl,
    HTTPS_PROXY: proxyUrl,
    NO_PROXY: direct,
    http_proxy: proxyUrl,
    https_proxy: proxyUrl,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: "1",
  };
}
