import { type Cursors, nameList } from "@tributary/kit/cursor";
import { AppError } from "@tributary/kit/errors";
import { readIfMatch, writeEtag } from "@tributary/kit/etag";
import type { RestAnswer, Handlers, RestRequest } from "@tributary/kit/rest";
import { readPageRequest, writeList } from "@tributary/kit/rest-lists";
import type { PostActions } from "../actions.ts";
import { type Post, readPostFilters } from "../model.ts";
import { readNewPostV1, readPostChangesV1 } from "./read.ts";
import type { routes } from "./routes.ts";
import { toPostV1 } from "./v1.ts";

export interface RestDeps {
  readonly actions: PostActions;
  readonly cursors: Cursors;
}

/** Published posts have one body for everybody; whatever else is shown is for this caller alone. */
const ownView = { "Cache-Control": "private, no-cache", Vary: "Authorization" };

/** Version 1 of the posts' REST door: read, act, answer. */
export function createHandlersV1({ actions, cursors }: RestDeps): Handlers<typeof routes> {
  async function answerList(request: RestRequest, asked: Readonly<Record<string, string>>): Promise<RestAnswer> {
    const filters = readPostFilters(asked);
    const list = nameList("posts", { ...filters });
    const page = await actions.listPosts(request.identity, filters, readPageRequest(request.query, cursors, list));
    const headers = asked["status"] === undefined ? {} : ownView;
    return writeList({ request, cursors, list, page, idOf: ({ id }) => id, toJson: toPostV1, headers });
  }

  return {
    listPosts(request) {
      const { limit: _limit, cursor: _cursor, ...asked } = request.query;
      return answerList(request, asked);
    },
    listUserPosts(request) {
      const { limit: _limit, cursor: _cursor, ...asked } = request.query;
      return answerList(request, { ...asked, authorId: request.params["id"] ?? "" });
    },
    async getPost({ identity, params }) {
      const post = await actions.findPost(identity, params["id"] ?? "");
      if (post === undefined) throw new AppError("NOT_FOUND", "There is no such post.");
      return answer(post, 200, post.status === "PUBLISHED" ? {} : ownView);
    },
    async createPost({ identity, body }) {
      const post = await actions.createPost(identity, () => readNewPostV1(body));
      return answer(post, 201, { Location: `/v1/posts/${post.id}` });
    },
    async updatePost({ identity, params, header, body }) {
      return answer(
        await actions.updatePost(
          identity,
          params["id"] ?? "",
          () => readPostChangesV1(body),
          () => readIfMatch(header("if-match")),
        ),
      );
    },
  };
}

function answer(post: Post, status = 200, headers: Readonly<Record<string, string>> = {}): RestAnswer {
  const view = post.status === "PUBLISHED" ? "public" : "private";
  return { status, headers: { ETag: writeEtag(post.rowVersion, "v1", view), ...headers }, body: toPostV1(post) };
}
