"""Texts that can be translated.

English sentences are the message ids of the gettext domain ``cuda2mps``. Rules, checklist and
verdict are module-level data, made before a language is known, so they mark their texts with
:func:`N_` and whoever shows one calls :func:`_`.

The language is the usual gettext choice: ``LANGUAGE``, ``LC_ALL``, ``LC_MESSAGES``, ``LANG``.
"""

import gettext
from pathlib import Path

DOMAIN = "cuda2mps"
LOCALE_DIR = Path(__file__).parent / "locale"

_catalogue: gettext.NullTranslations | None = None


def use_language(*languages: str, folder: Path = LOCALE_DIR) -> None:
    """Choose the catalogue by hand; without a language the environment decides."""
    global _catalogue
    _catalogue = gettext.translation(DOMAIN, folder, languages or None, fallback=True)


def language() -> str:
    """The language of the texts, empty where they stay as they are."""
    if _catalogue is None:
        use_language()
    assert _catalogue is not None
    return _catalogue.info().get("language", "")


def _(text: str) -> str:
    """Return ``text`` in the user's language, or as it is when there is no translation."""
    if not text:  # gettext answers the empty id with the catalogue's header
        return ""
    if _catalogue is None:
        use_language()
    assert _catalogue is not None
    return _catalogue.gettext(text)


def N_(text: str) -> str:
    """Mark ``text`` for the catalogue and return it unchanged."""
    return text


def plural(one: str, many: str, count: int) -> str:
    """Return the form for ``count``, with ``{n}`` filled in."""
    if _catalogue is None:
        use_language()
    assert _catalogue is not None
    return _catalogue.ngettext(one, many, count).format(n=count)
