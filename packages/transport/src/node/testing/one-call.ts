// A program of its own: prints the id of a profile that the service at the address of its argument has.
import { getProfile } from "@shoal/contract";
import { createTransport } from "../../index.ts";

const profile = await createTransport({ baseUrl: process.argv[2] ?? "", apiKey: "sk_secret_0123456789" }).call(getProfile, {
  params: { id_or_name: "p1" },
});
process.stdout.write(profile.id);
