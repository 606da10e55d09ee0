import { checked } from "@shoal/schemas";
import * as z from "zod/mini";
import { integer, optionalSetting, setting, text } from "./setting.ts";

const words = checked(z.array(text), z.maxLength(50));

/** Secret stores that logins are read from, and the optional model of sign-in. */
export const credentialProviders = {
  credential_provider_hosts: setting({
    schema: z.array(text),
    summary:
      "Private hosts, addresses or CIDR ranges, each with an optional :port, that credential providers may be at.",
    fallback: [],
    default: "none",
  }),
  credential_provider_timeout_seconds: setting({
    schema: integer(1, 60),
    summary: "Seconds that a credential provider has for each answer.",
    fallback: 10,
  }),
  credential_provider_modules: setting({
    schema: words,
    summary: "ES modules with further kinds of credential providers: absolute paths or packages.",
    fallback: [],
    default: "none",
  }),
  credential_env_prefix: optionalSetting({
    schema: text.check(z.refine((value) => /^[A-Za-z_]\w*_$/.test(value), "must be a name that ends with _")),
    summary:
      "Prefix of variables with logins: LOGIN_ reads LOGIN_SHOP_USERNAME, LOGIN_SHOP_PASSWORD, LOGIN_SHOP_TOTP and LOGIN_SHOP_URL.",
    default: "none",
  }),
  credential_files: optionalSetting({
    kind: "path",
    schema: text,
    summary: "Folder of JSON and YAML files with logins, each with the mode 0600.",
    default: "none",
  }),
  credential_command: setting({
    schema: words,
    summary: "Program and arguments that print the login at a path, which is the last argument.",
    fallback: [],
    default: "none",
  }),
  credential_list_command: setting({
    schema: words,
    summary: "Program and arguments that print the path of each login on a line.",
    fallback: [],
    default: "none",
  }),
  credential_projects: setting({
    schema: words,
    summary: "Names or ids of the projects that may use logins of the four settings above; * for all projects.",
    fallback: ["default"],
  }),
  login_model_module: optionalSetting({
    schema: text,
    summary:
      "ES module with a model that names fields of login pages where Shoal finds no form: absolute path or package.",
    default: "none",
  }),
};
