from evals.settings_page import PAGE, page


def test_the_page_of_settings_is_what_the_program_takes() -> None:
    assert PAGE.read_text("utf-8") == page(), "make settings"
