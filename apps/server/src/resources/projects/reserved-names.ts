import { roleRules } from "../../config/role-rules.ts";
import type { Config } from "../../config/settings.ts";

type NamingSettings = Pick<
  Config,
  | "credential_command"
  | "credential_env_prefix"
  | "credential_files"
  | "credential_projects"
  | "oidc_issuer"
  | "oidc_roles"
>;

/** Names and ids of projects to which settings give logins of the operator, or roles of persons. */
export function reservedProjectNames(settings: NamingSettings): ReadonlySet<string> {
  const { credential_command, credential_env_prefix, credential_files } = settings;
  const hasLogins =
    credential_command.length > 0 || credential_env_prefix !== undefined || credential_files !== undefined;
  return new Set([
    ...(hasLogins ? settings.credential_projects : []),
    ...(settings.oidc_issuer === undefined ? [] : roleRules(settings.oidc_roles).map(({ project }) => project)),
  ]);
}
