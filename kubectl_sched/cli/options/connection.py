"""kubectl's connection flags, for every command that may read a running cluster."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from typer import Option

from kubectl_sched.cli.options.option_groups import OptionGroup, flags

if TYPE_CHECKING:
    from kubectl_sched.sources.live.connection_flags import Connection


class ConnectionOptions(OptionGroup, frozen=True, kw_only=True):
    """Each field of Connection besides the namespace."""

    heading: ClassVar = "Connection"
    kubeconfig: Annotated[str | None, Option("--kubeconfig", metavar="FILE", help="The kubeconfig to use.")] = None
    context: Annotated[str | None, Option("--context", metavar="NAME", help="The kubeconfig's context to use.")] = None
    cluster: Annotated[str | None, Option("--cluster", metavar="NAME", help="The kubeconfig's cluster to use.")] = None
    user: Annotated[str | None, Option("--user", metavar="NAME", help="The kubeconfig's user to use.")] = None
    server: Annotated[str | None, Option("--server", "-s", metavar="URL", help="The address of the API server.")] = None
    token: Annotated[str | None, Option("--token", metavar="TOKEN", help="A bearer token.")] = None
    username: Annotated[str | None, Option("--username", metavar="NAME", help="The name for basic authentication.")] = (
        None
    )
    password: Annotated[
        str | None, Option("--password", metavar="WORD", help="The password for basic authentication.")
    ] = None
    as_user: Annotated[str | None, Option("--as", metavar="USER", help="Act as this user.")] = None
    as_groups: Annotated[
        list[str] | None, Option("--as-group", metavar="GROUP", help="Act as in this group; repeatable.")
    ] = None
    as_uid: Annotated[str | None, Option("--as-uid", metavar="UID", help="Act as the user of this UID.")] = None
    as_user_extras: Annotated[
        list[str] | None,
        Option("--as-user-extra", metavar="KEY=VALUE", help="Act as the user with this extra; repeatable."),
    ] = None
    request_timeout: Annotated[
        str | None,
        Option("--request-timeout", metavar="30s", help="How long one request may take; 0 is no limit."),
    ] = None
    certificate_authority: Annotated[
        str | None,
        Option("--certificate-authority", metavar="FILE", help="The authority that signs the server's certificate."),
    ] = None
    client_certificate: Annotated[
        str | None, Option("--client-certificate", metavar="FILE", help="A client certificate.")
    ] = None
    client_key: Annotated[str | None, Option("--client-key", metavar="FILE", help="The client certificate's key.")] = (
        None
    )
    insecure_skip_tls_verify: Annotated[
        bool, Option("--insecure-skip-tls-verify", help="Do not check the server's certificate.")
    ] = False
    tls_server_name: Annotated[
        str | None,
        Option("--tls-server-name", metavar="NAME", help="The host that the server's certificate is for."),
    ] = None
    disable_compression: Annotated[
        bool, Option("--disable-compression", help="Let the server send what it sends as it is.")
    ] = False

    @property
    def connection(self) -> "Connection":
        """The flags as the reader of a cluster takes them."""
        from kubectl_sched.sources.live.connection_flags import Connection

        fields: dict[str, Any] = {name: getattr(self, name) for name in self.__struct_fields__}
        lists = {name: tuple(fields[name] or ()) for name in ("as_groups", "as_user_extras")}
        return Connection(**fields | lists)

    @property
    def given_flags(self) -> list[str]:
        """The flags that were given, as they are written."""
        return [each.spellings[0] for name, each in flags(type(self)).items() if getattr(self, name)]
