// By GraphQL: one request has posts, authors and numbers of comments, which are data of three services.
import { type FormEvent, useState } from "react";
import { useMutation, useQuery } from "urql";
import { useApi } from "./api.ts";
import { describeError, describeWriteError, NoticeBox } from "./errors.tsx";
import { AddCommentDocument, CommentsDocument, FeedDocument, type FeedQuery } from "./generated/graphql.ts";
import { MoreButton, type OnMore, Pages } from "./pages.tsx";
import { createKeys } from "./send.ts";

type Post = NonNullable<FeedQuery["posts"]>["nodes"][number];

export function Feed() {
  return (
    <section aria-labelledby="posts">
      <h2 id="posts">Posts</h2>
      <Pages>{(after, onMore) => <FeedPage after={after} onMore={onMore} />}</Pages>
    </section>
  );
}

interface PageProps {
  readonly after: string | undefined;
  readonly onMore: OnMore;
}

function FeedPage({ after, onMore }: PageProps) {
  const { publicRead } = useApi();
  const [{ data, error, fetching }, refresh] = useQuery({
    query: FeedDocument,
    variables: { after },
    context: publicRead,
  });
  if (fetching && !data) return <p className="soft">Loading posts …</p>;
  const { nodes = [], pageInfo } = data?.posts ?? {};
  return (
    <>
      <NoticeBox notice={error && describeError(error)} />
      {error && <button onClick={() => refresh({ requestPolicy: "network-only" })}>Load again</button>}
      <ul>
        {nodes.map((post) => (
          <PostItem key={post.id} post={post} />
        ))}
      </ul>
      {pageInfo?.hasNextPage && <MoreButton next={pageInfo.endCursor} onMore={onMore} />}
    </>
  );
}

function PostItem({ post: { id, title, author, publishedAt, commentCount } }: { readonly post: Post }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li>
      <h3>{title}</h3>
      <p className="soft">
        {author?.name ?? "unknown author"}, {publishedAt?.slice(0, 10)}
      </p>
      <button aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {commentCount ?? "?"} {commentCount === 1 ? "comment" : "comments"}
      </button>
      {isOpen && <Pages>{(after, onMore) => <CommentsPage postId={id} after={after} onMore={onMore} />}</Pages>}
      {isOpen && <CommentForm postId={id} title={title} />}
    </li>
  );
}

function CommentsPage({ postId, after, onMore }: PageProps & { readonly postId: string }) {
  const { publicRead } = useApi();
  const [{ data, error }] = useQuery({
    query: CommentsDocument,
    variables: { postId, after },
    context: publicRead,
  });
  const { nodes = [], pageInfo } = data?.comments ?? {};
  return (
    <>
      <NoticeBox notice={error && describeError(error)} />
      <ul>
        {nodes.map(({ id, body, author }) => (
          <li key={id}>
            <p>{body ?? <i className="soft">deleted</i>}</p>
            <p className="soft">{author?.name ?? "unknown author"}</p>
          </li>
        ))}
      </ul>
      {pageInfo?.hasNextPage && <MoreButton next={pageInfo.endCursor} onMore={onMore} />}
    </>
  );
}

/** urql's cache then requests again what has objects of these types, which an empty list has too. By the receipt, the new comment is in it. */
const changes = { additionalTypenames: ["CommentConnection", "Post"] };

function CommentForm({ postId, title }: { readonly postId: string; readonly title: string }) {
  const { isSignedIn } = useApi();
  const [body, setBody] = useState("");
  const [keys] = useState(createKeys);
  const [{ error, fetching }, addComment] = useMutation(AddCommentDocument);
  if (!isSignedIn) return <p className="soft">Sign in to comment.</p>;

  async function submit(event: FormEvent) {
    event.preventDefault();
    const idempotencyKey = keys.keyOf({ postId, body });
    const { data } = await addComment({ input: { postId, body, idempotencyKey } }, changes);
    if (!data?.addComment) return;
    keys.forget();
    setBody("");
  }

  return (
    <form className="wide" onSubmit={(event) => void submit(event)}>
      <input aria-label={`Comment on ${title}`} value={body} onChange={({ target }) => setBody(target.value)} />
      <button disabled={fetching}>Comment</button>
      <NoticeBox notice={error && describeWriteError(error)} />
    </form>
  );
}
