// A separate program: prints the id of a profile of the service at the given URL.
import { getProfile } from "@shoal/contract";
import { createTransport } from "../../index.ts";

const profile = await createTransport({ baseUrl: process.argv[2] ?? "", apiKey: "sk_secret_0123456789" }).call(
  getProfile,
  {
    params: { id_or_name: "p1" },
  },
);
process.stdout.write(profile.id);
