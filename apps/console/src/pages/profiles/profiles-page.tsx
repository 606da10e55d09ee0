import { Anchor, Badge, Button, Text, TextInput } from "@mantine/core";
import type { Profile } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, Trash2, UserRoundCheck } from "lucide-react";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { sizeText } from "../../base/texts.ts";
import { useAction } from "../../parts/action.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { Ago } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Empty } from "../../parts/states.tsx";
import { NoMatch } from "../../parts/table/no-match.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { deletionOf } from "./deletion.ts";

const columns: readonly Column<Profile>[] = [
  { name: "Name", cell: (profile) => <ProfileName profile={profile} />, share: 2 },
  { name: "Saved", cell: (profile) => <SavedState profile={profile} /> },
  { name: "Version", cell: ({ version }) => version ?? "None", share: 0.7 },
  { name: "Size", cell: ({ size_bytes }) => (size_bytes === undefined ? "None" : sizeText(size_bytes)), share: 0.7 },
  { name: "Last use", cell: ({ last_used_at: at }) => (at === undefined ? "Never" : <Ago at={at} />) },
];

export function ProfilesPage() {
  const { project, shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const { query } = useSearch({ from: "/profiles" });
  const navigate = useNavigate({ from: "/profiles" });
  const list = useList(["profiles", project?.id, query], (page, options) =>
    shoal.profiles.list({ ...page, query }, options),
  );
  return (
    <Page
      title="Profiles"
      description="Cookies, storage and preferences that sessions start from, and can save when they end."
      actions={canOperate && <CreateButton />}
    >
      <SearchField
        label="Search by name or id"
        value={query}
        change={(value) => void navigate({ search: (before) => ({ ...before, query: value }), replace: true })}
      />
      <ResourceTable
        label="Profiles"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        menu={canOperate ? (profile) => <ProfileMenu profile={profile} /> : undefined}
        empty={
          query === undefined ? (
            <Empty icon={UserRoundCheck} title="No profiles">
              Create one, start a session with it, and sign in to a site. With <code>save_changes</code>, the session
              saves its cookies to the profile.
            </Empty>
          ) : (
            <NoMatch />
          )
        }
      />
      <ProgramCard
        programs={{
          sdk: `await shoal.profiles.create({ name: "shop" });
const browser = await shoal.browsers.create({ profile: { name: "shop", save_changes: true } });`,
          cli: "profiles create --name shop\nshoal browsers create --profile-name shop --profile-save-changes",
          curl: { method: "POST", path: "/profiles", body: { name: "shop" } },
        }}
      />
    </Page>
  );
}

function ProfileName({ profile: { id, name } }: { readonly profile: Profile }) {
  return (
    <Anchor fw={600} size="sm" renderRoot={(props) => <Link to="/profiles/$id" params={{ id }} {...props} />}>
      {name ?? id}
    </Anchor>
  );
}

export function SavedState({ profile: { saved_at, last_save_error } }: { readonly profile: Profile }) {
  if (last_save_error !== undefined)
    return (
      <Badge color="red" variant="light" tt="none" title={last_save_error}>
        Save failed
      </Badge>
    );
  return saved_at === undefined ? <Text inherit>Empty</Text> : <Ago at={saved_at} />;
}

function CreateButton() {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        leftSection={<Plus size={16} aria-hidden />}
        onClick={() => {
          setOpen(true);
        }}
      >
        New profile
      </Button>
      <FormDialog
        isOpen={isOpen}
        title="New profile"
        action="Create"
        initial={{ name: "" }}
        submit={({ name }) => shoal.profiles.create({ name })}
        done={({ id }) => {
          void queries.invalidateQueries({ queryKey: ["profiles"] });
          void navigate({ to: "/profiles/$id", params: { id } });
        }}
        close={() => {
          setOpen(false);
        }}
      >
        {({ text }) => (
          <TextInput
            label="Name"
            description="Sessions refer to the profile by its name"
            {...text("name")}
            required
            maxLength={255}
            data-autofocus
          />
        )}
      </FormDialog>
    </>
  );
}

function ProfileMenu({ profile }: { readonly profile: Profile }) {
  const { shoal } = useSignedIn();
  const name = profile.name ?? profile.id;
  const remove = useAction({
    act: () => shoal.profiles.delete(profile.id),
    told: () => `Profile ${name} was deleted.`,
    changes: [["profiles"]],
  });
  return (
    <RowMenu
      label={`Actions for profile ${name}`}
      actions={[{ label: "Delete", icon: Trash2, isDangerous: true, run: remove.mutate, confirm: deletionOf(name) }]}
    />
  );
}
