import type {
  CredentialProvider,
  CredentialProviderKind,
  ProviderItem,
  ProviderOptions,
  ProviderValues,
} from "@shoal/server/credential-provider";
import * as z from "zod/mini";

/** The team's book of logins: one JSON document behind a token. */
const Book = z.object({
  logins: z.array(z.object({ name: z.string(), site: z.string(), user: z.string(), password: z.string() })),
});

function openBook({ http, settings, token }: ProviderOptions): CredentialProvider {
  const vault = { id: "book", name: "Book" };
  const logins = async (signal: AbortSignal) => {
    // The client of the service checks the address, bounds the answer and reports failures in words.
    const { json } = await http.send({
      url: new URL("/logins.json", settings.address),
      headers: { authorization: `Bearer ${token}` },
      signal,
    });
    const book = Book.safeParse(json);
    // The message must not quote the document.
    if (!book.success) throw new Error("The document is not a book of logins.");
    return book.data.logins;
  };
  return {
    async test(signal) {
      await logins(signal);
      return [vault];
    },
    async items(signal): Promise<ProviderItem[]> {
      const found = await logins(signal);
      return found.map(({ name, site }) => ({ id: name, title: name, path: `Book/${name}`, vault, urls: [site] }));
    },
    async read({ path }, signal): Promise<ProviderValues | undefined> {
      const found = (await logins(signal)).find(({ name }) => path === `Book/${name}`);
      return found && { values: { username: found.user, password: found.password } };
    },
  };
}

/** Name this module in the setting `credential_provider_modules` of the service. */
export const credentialProviders: readonly CredentialProviderKind[] = [
  {
    kind: "login_book",
    title: "Login book",
    settings: {
      address: { description: "the address of the book, https://book.example", isRequired: true, isAddress: true },
    },
    open: openBook,
  },
];
