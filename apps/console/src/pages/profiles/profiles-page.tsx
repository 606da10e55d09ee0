import { Anchor, Badge, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Profile } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { UserRoundCheck } from "lucide-react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { sizeText } from "../../base/texts.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useProfileDeletion } from "./use-profile-deletion.ts";

const columns: readonly Column<Profile>[] = [
  { name: "Name", cell: (profile) => <ProfileName profile={profile} />, share: 2 },
  { name: "Saved", cell: (profile) => <SavedState profile={profile} /> },
  { name: "Version", cell: ({ version }) => version, share: 0.7 },
  { name: "Size", cell: ({ size_bytes }) => size_bytes && sizeText(size_bytes), share: 0.7 },
  { name: "Last use", cell: ({ last_used_at: at }) => (at === undefined ? "Never" : <Ago at={at} />) },
];

export function ProfilesPage() {
  const { project, shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const [isCreating, creating] = useDisclosure();
  return (
    <ListPage
      title="Profiles"
      description="Cookies, storage and preferences that sessions start from, and can save when they end."
      create={canOperate && { label: "New profile", run: creating.open }}
      search="Search by name or id"
      programs={{
        sdk: `await shoal.profiles.create({ name: "shop" });
const browser = await shoal.browsers.create({ profile: { name: "shop", save_changes: true } });`,
        cli: "profiles create --name shop\nshoal browsers create --profile-name shop --profile-save-changes",
        curl: { method: "POST", path: "/profiles", body: { name: "shop" } },
      }}
    >
      <ResourceList
        label="Profiles"
        queryKey={["profiles", project?.id]}
        read={(request, options) => shoal.profiles.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        menu={canOperate && ((profile) => <ProfileMenu profile={profile} />)}
        empty={{
          icon: UserRoundCheck,
          title: "No profiles",
          text: "Create one, start a session with it that saves changes to the profile at the end, and sign in to a site.",
        }}
      />
      <CreateDialog isOpen={isCreating} close={creating.close} />
    </ListPage>
  );
}

function ProfileName({ profile: { id, name } }: { readonly profile: Profile }) {
  return (
    <NameCell>
      <Anchor inherit renderRoot={(props) => <Link to="/profiles/$id" params={{ id }} {...props} />}>
        {name ?? id}
      </Anchor>
    </NameCell>
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

interface CreateDialogProps {
  readonly isOpen: boolean;
  readonly close: () => void;
}

function CreateDialog({ isOpen, close }: CreateDialogProps) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
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
      close={close}
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
  );
}

function ProfileMenu({ profile }: { readonly profile: Profile }) {
  const deletion = useProfileDeletion(profile);
  return <RowMenu label={`Actions for profile ${profile.name ?? profile.id}`} actions={[deletion]} />;
}
