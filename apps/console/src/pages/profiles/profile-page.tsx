import { Card, Stack, Title } from "@mantine/core";
import type { Profile } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useCanOperate, useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { sizeText } from "../../base/texts.ts";
import { IdText } from "../../parts/code.tsx";
import { Columns } from "../../parts/columns.tsx";
import { Details } from "../../parts/details.tsx";
import { Ago, Moment } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { CookiesCard } from "./cookies-card.tsx";
import { ProfileActions } from "./profile-actions.tsx";
import { ProfileSessions } from "./profile-sessions.tsx";
import { profileQuery } from "./queries.ts";
import { VersionsCard } from "./versions-card.tsx";

export function ProfilePage() {
  const { id } = useParams({ from: "/profiles/$id" });
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const isAdmin = useIsAdmin();
  const { data: profile, error, refetch } = useQuery(profileQuery(shoal, id));
  if (profile === undefined)
    return (
      <Page title="Profile">
        {error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />}
      </Page>
    );
  const name = profile.name ?? profile.id;
  return (
    <Page
      trail={[{ label: "Profiles", to: "/profiles" }]}
      title={name}
      windowTitle={`Profile ${name}`}
      description="A profile: state that sessions start from."
      actions={canOperate && <ProfileActions profile={profile} />}
    >
      {profile.last_save_error !== undefined && (
        <Failure error={`The last save failed: ${profile.last_save_error} The state before it is untouched.`} />
      )}
      <Columns>
        <Stack gap="lg">
          <VersionsCard profile={profile} />
          {isAdmin && <CookiesCard profile={profile} />}
        </Stack>
        <Stack gap="lg">
          <DetailsCard profile={profile} />
          <ProfileSessions profile={profile} />
          <ProgramCard programs={programsOf(name)} />
        </Stack>
      </Columns>
    </Page>
  );
}

const programsOf = (name: string) => ({
  sdk: `const browser = await shoal.browsers.create({
  profile: { name: ${JSON.stringify(name)}, save_changes: true },
});`,
  cli: `browsers create --profile-name ${JSON.stringify(name)} --profile-save-changes`,
  curl: { method: "POST", path: "/browsers", body: { profile: { name, save_changes: true } } } as const,
});

function DetailsCard({ profile }: { readonly profile: Profile }) {
  const { id, created_at, updated_at, last_used_at, saved_at, size_bytes } = profile;
  return (
    <Card withBorder padding="lg">
      <Title order={2} size="h4" mb="sm">
        Details
      </Title>
      <Details
        rows={[
          ["Id", <IdText id={id} />],
          ["Created", <Moment at={created_at} />],
          ["Changed", updated_at !== undefined && <Ago at={updated_at} />],
          ["Saved", saved_at === undefined ? "Never: the profile is empty" : <Ago at={saved_at} />],
          ["Size", size_bytes !== undefined && sizeText(size_bytes)],
          ["Last use", last_used_at === undefined ? "Never" : <Ago at={last_used_at} />],
        ]}
      />
    </Card>
  );
}
