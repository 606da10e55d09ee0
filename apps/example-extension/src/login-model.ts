import type { LoginModel } from "@shoal/server";
import * as z from "zod/mini";

const Answer = z.object({ names: z.record(z.string(), z.string()) });
const task =
  "Return JSON: {names: {ref: name}}. Names: username, email, phone, password, new_password, otp, organization, submit.";

/** Asks the team's model server. Name this module in the setting `login_model_module` of the service. */
export function createLoginModel(): LoginModel {
  const { LOGIN_MODEL_KEY: key = "", LOGIN_MODEL_URL: url = "" } = process.env;
  return {
    async nameNodes({ nodes }) {
      const response = await fetch(url, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ task, nodes: nodes.filter(({ hidden }) => hidden === undefined) }),
        signal: AbortSignal.timeout(20_000),
      });
      if (!response.ok) throw new Error(`The model server answered ${String(response.status)}.`);
      return Answer.parse(await response.json()).names;
    },
  };
}
