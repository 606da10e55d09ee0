import { type CredentialProvider, maxItems } from "../interface/credential-provider.ts";
import { grouped, itemsOfGroups, valuesOfGroup } from "../stores/grouped-secrets.ts";

const vault = { id: "env", name: "env" };

/** Reads variables of the server: `PREFIX` + `SHOP_USERNAME`, `SHOP_PASSWORD`, `SHOP_URL`, `SHOP_TOTP`. */
export function createEnvProvider(prefix: string, env: NodeJS.ProcessEnv): CredentialProvider {
  const groups = () =>
    grouped(
      Object.fromEntries(
        Object.entries(env).flatMap(([name, value]) =>
          name.startsWith(prefix) && value !== undefined ? [[name.slice(prefix.length), value]] : [],
        ),
      ),
    );
  return {
    test: () => Promise.resolve([vault]),
    items: () => Promise.resolve(itemsOfGroups(groups(), vault).slice(0, maxItems)),
    read: ({ path }) => Promise.resolve(valuesOfGroup(groups(), vault, path)),
  };
}
