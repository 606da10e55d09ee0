import { Anchor, Badge, Button, Group, Text } from "@mantine/core";
import type { Profile, ProfileVersion } from "@shoal/schemas";
import { Link } from "@tanstack/react-router";
import { History } from "lucide-react";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { sizeText } from "../../base/texts.ts";
import { useAction } from "../../parts/action.ts";
import { Section } from "../../parts/detail/section.tsx";
import { ConfirmDialog } from "../../parts/forms/confirm-dialog.tsx";
import { Ago } from "../../parts/moment.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { useList } from "../../parts/table/use-list.ts";

const sources: Readonly<Record<string, string>> = {
  session: "End of session",
  checkpoint: "Automatic save of session",
  save: "Save of session",
  import: "Import of cookies",
  rollback: "Earlier version",
  clone: "Another profile",
};

const columns = (profile: Profile): readonly Column<ProfileVersion>[] => [
  {
    name: "Version",
    cell: ({ version, is_current }) => (
      <Group gap="xs">
        <Text inherit fw={600}>
          {version}
        </Text>
        {is_current && (
          <Badge variant="light" tt="none">
            Current
          </Badge>
        )}
      </Group>
    ),
  },
  { name: "Saved", cell: ({ created_at }) => <Ago at={created_at} /> },
  { name: "Source", cell: (version) => <Source version={version} />, share: 1.6 },
  { name: "Size", cell: ({ size_bytes }) => sizeText(size_bytes), share: 0.7 },
  {
    name: "Rollback",
    cell: (version) => !version.is_current && <RollbackButton profile={profile} version={version} />,
  },
];

/** The saved states, newest first. */
export function VersionsSection({ profile }: { readonly profile: Profile }) {
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  // The current version is in the key, so that a new state appears.
  const list = useList(["profiles", "versions", profile.id, profile.version], (page, options) =>
    shoal.profiles.versions.list(profile.id, page, options),
  );
  return (
    <Section title="Versions" isPlain>
      <ResourceTable
        label="Versions"
        list={list}
        idOf={({ version }) => String(version)}
        columns={columns(profile).filter(({ name }) => canOperate || name !== "Rollback")}
        empty={
          <Empty icon={History} title="Nothing is saved yet">
            A session that saves changes to the profile adds a version when it ends.
          </Empty>
        }
      />
    </Section>
  );
}

function Source({ version: { source, session_id: id } }: { readonly version: ProfileVersion }) {
  return (
    <>
      {sources[source] ?? source}
      {id !== undefined && (
        <>
          {" "}
          <Anchor size="sm" renderRoot={(props) => <Link to="/sessions/$id" params={{ id }} {...props} />}>
            {id}
          </Anchor>
        </>
      )}
    </>
  );
}

function RollbackButton({ profile, version }: { readonly profile: Profile; readonly version: ProfileVersion }) {
  const { shoal } = useSignedIn();
  const [isAsked, setAsked] = useState(false);
  const rollback = useAction({
    act: () => shoal.profiles.rollback(profile.id, { version: version.version }),
    told: () => `Version ${version.version} is the current state again.`,
    changes: [["profiles"]],
  });
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        loading={rollback.isPending}
        onClick={() => {
          setAsked(true);
        }}
        aria-label={`Roll back to version ${version.version}`}
      >
        Roll back
      </Button>
      <ConfirmDialog
        asked={
          isAsked
            ? {
                title: `Roll back to version ${version.version}?`,
                text: "The state becomes a new version. Sessions that start from now on use it.",
                action: "Roll back",
              }
            : undefined
        }
        close={() => {
          setAsked(false);
        }}
        confirm={() => {
          setAsked(false);
          rollback.mutate();
        }}
      />
    </>
  );
}
