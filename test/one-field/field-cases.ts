// The edits of one new field of each service, and the requests that write it.

interface FieldEdit {
  readonly file: string;
  /** The text is inserted after the first match; undefined for a new file. */
  readonly after?: RegExp;
  readonly text: string;
}

/** The other fields of requests that create or change an entity. */
interface Inputs {
  readonly created: object;
  readonly changed: object;
}

export interface FieldCase {
  readonly service: string;
  readonly field: string;
  readonly description: string;
  readonly edits: readonly FieldEdit[];
  /** The GraphQL type, and the field of the payloads that has it. */
  readonly type: string;
  readonly entity: string;
  readonly path: string;
  readonly mutations: { readonly create: string; readonly change: string };
  readonly inputs: Readonly<Record<"graphql" | 1 | 2, Inputs>>;
  /** The OpenAPI schemas with the field. */
  readonly schemas: readonly string[];
  readonly scopes: readonly string[];
}

const title = { title: "A title" };
const name = { name: "A name" };
const postId = "1";

export const fieldCases: readonly FieldCase[] = [
  {
    service: "posts",
    field: "subtitle",
    description: "The line below the title.",
    edits: [
      {
        file: "services/posts/migrations/0007-subtitle.sql",
        text: `alter table posts add column subtitle text check (char_length(subtitle) between 1 and 40);

create or replace function move_post_on() returns trigger language plpgsql as $$
begin
  new.row_version := next_row_version(old.row_version);
  if (new.title, new.subtitle, new.body, new.body_format)
      is distinct from (old.title, old.subtitle, old.body, old.body_format) then
    new.updated_at := date_trunc('milliseconds', now());
  end if;
  return new;
end
$$;
`,
      },
      ...graphEdits("posts", "subtitle", [
        /^type Post [^}]*? title: String!\n/m,
        /^input CreatePostInput [^}]*? title: String!\n/m,
        /^input UpdatePostInput [^}]*? title: String\n/m,
      ]),
      modelEdit("posts", /^export const postFields = defineFields\(\{\n.*\n/m, "subtitle", "The line below the title."),
    ],
    type: "Post",
    entity: "post",
    path: "/posts",
    mutations: { create: "createPost", change: "updatePost" },
    inputs: {
      graphql: { created: title, changed: {} },
      1: { created: title, changed: {} },
      2: { created: title, changed: {} },
    },
    schemas: ["Post", "NewPost", "PostChanges"],
    scopes: ["posts:write"],
  },
  {
    service: "users",
    field: "headline",
    description: "The line below the name.",
    edits: [
      {
        file: "services/users/migrations/0008-headline.sql",
        text: "alter table users add column headline text check (char_length(headline) between 1 and 40);\n",
      },
      ...graphEdits("users", "headline", [
        /^type User [^}]*? name: String!\n/m,
        /^input CreateUserInput [^}]*? name: String!\n/m,
        /^input UpdateUserInput [^}]*? name: String\n/m,
      ]),
      modelEdit("users", /^export const userFields = defineFields\(\{\n.*\n/m, "headline", "The line below the name."),
    ],
    type: "User",
    entity: "user",
    path: "/users",
    mutations: { create: "createUser", change: "updateUser" },
    inputs: {
      graphql: { created: name, changed: {} },
      1: { created: name, changed: {} },
      2: { created: name, changed: {} },
    },
    schemas: ["User", "NewUser", "UserChanges"],
    scopes: ["users:write:all"],
  },
  {
    service: "comments",
    field: "mood",
    description: "How it is meant.",
    edits: [
      {
        file: "services/comments/migrations/0006-mood.sql",
        text: "alter table comments add column mood text check (char_length(mood) between 1 and 40);\n",
      },
      ...graphEdits("comments", "mood", [
        /^type Comment [^}]*? body: String\n/m,
        /^input AddCommentInput [^}]*? body: String!\n/m,
        /^input EditCommentInput [^}]*? body: String!\n/m,
      ]),
      modelEdit("comments", /^export const commentFields = defineFields\(\{/m, "mood", "How it is meant."),
    ],
    type: "Comment",
    entity: "comment",
    path: "/comments",
    mutations: { create: "addComment", change: "editComment" },
    inputs: {
      graphql: { created: { postId, body: "A text" }, changed: { body: "A text" } },
      1: { created: { postId, text: "A text" }, changed: { text: "A text" } },
      2: { created: { postId, body: "A text" }, changed: { body: "A text" } },
    },
    schemas: ["Comment", "NewComment", "CommentChange"],
    scopes: ["comments:write"],
  },
];

/** In the type, and in the inputs of the mutations that create and change it. */
function graphEdits(service: string, field: string, after: readonly RegExp[]): readonly FieldEdit[] {
  return after.map((after) => ({ file: `services/${service}/schema.graphql`, after, text: `  ${field}: String\n` }));
}

function modelEdit(service: string, after: RegExp, field: string, description: string): FieldEdit {
  const limits = `{ min: 1, max: 40, what: "This text" }`;
  const declaration = `{ text: ${limits}, isOptional: true, description: "${description}", example: "An example" }`;
  return { file: `services/${service}/src/model.ts`, after, text: `  ${field}: ${declaration},\n` };
}
