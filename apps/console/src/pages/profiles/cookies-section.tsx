import { Text, TextInput } from "@mantine/core";
import type { Profile, StorageState } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { Cookie } from "lucide-react";
import { useState } from "react";
import { useSignedIn } from "../../api/shoal.ts";
import { Section } from "../../parts/detail/section.tsx";
import { Ago } from "../../parts/moment.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";

type StoredCookie = Omit<StorageState["cookies"][number], "value">;

const columns: readonly Column<StoredCookie>[] = [
  {
    name: "Name",
    cell: ({ name }) => (
      <Text inherit fw={600}>
        {name === "" ? "(empty)" : name}
      </Text>
    ),
    share: 1.5,
  },
  { name: "Domain", cell: ({ domain, path }) => (path === "/" ? domain : domain + path), share: 1.5 },
  { name: "Expires", cell: ({ expires }) => <Expiry seconds={expires} /> },
  { name: "Flags", cell: (cookie) => flagsOf(cookie) },
];

function Expiry({ seconds }: { readonly seconds: number }) {
  return seconds < 0 ? <>With the browser</> : <Ago at={new Date(seconds * 1000).toISOString()} />;
}

function flagsOf({ httpOnly, secure, sameSite }: StoredCookie): string {
  return [secure && "Secure", httpOnly && "HttpOnly", sameSite].filter((flag) => flag !== false).join(", ");
}

/** Cookies of the current state. Their values stay out of the page. */
export function CookiesSection({ profile }: { readonly profile: Profile }) {
  const { shoal } = useSignedIn();
  const [search, setSearch] = useState("");
  const { data, error, refetch } = useQuery({
    queryKey: ["profiles", "cookies", profile.id, profile.version],
    queryFn: async ({ signal }) => {
      const state = await shoal.profiles.storageState.get(profile.id, { signal });
      return {
        cookies: (state?.cookies ?? []).map(({ value: _value, ...cookie }): StoredCookie => cookie),
        origins: (state?.origins ?? []).map(({ origin }) => origin),
      };
    },
  });
  const wanted = search.toLowerCase();
  const items = data?.cookies.filter(({ name, domain }) => `${name} ${domain}`.toLowerCase().includes(wanted));
  return (
    <Section title="Cookies" isPlain>
      {(data?.cookies.length ?? 0) > 0 && (
        <TextInput
          aria-label="Search cookies by name or domain"
          placeholder="Name or domain"
          value={search}
          onChange={({ currentTarget: { value } }) => {
            setSearch(value);
          }}
          maw={340}
          mb="sm"
        />
      )}
      <ResourceTable
        label="Cookies"
        list={{
          items,
          error,
          hasMore: false,
          isReadingMore: false,
          readMore: () => undefined,
          refetch: () => void refetch(),
        }}
        idOf={({ name, domain, path, partitionKey = "" }) => [name, domain, path, partitionKey].join("\n")}
        columns={columns}
        empty={
          <Empty icon={Cookie} title="No cookies">
            The current state has no cookies.
          </Empty>
        }
      />
      {data !== undefined && data.origins.length > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          Local storage: {data.origins.join(", ")}
        </Text>
      )}
    </Section>
  );
}
